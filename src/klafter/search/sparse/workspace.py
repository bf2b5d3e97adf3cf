"""What kernels of the sparse engine read and write: the fields of problem and state side by side.

Kernels receive one reference to a struct of these. As tuples of twenty arrays, which every call hands over one by one,
they would take twice as long to compile.
"""

from numba import types
from numba.experimental import structref

from klafter.jit.decorators import kernel
from klafter.jit.structs import define_reference
from klafter.search.sparse.state import Problem, State

BY_ROWS = ("row_start", "row_other", "row_place", "column_start", "column_other", "column_place")


class WorkspaceType(types.StructRef):
    """The type of workspaces in kernels."""


class Workspace(structref.StructRefProxy):
    """A reference to the fields, as kernels take it.

    ``diagonal`` says that there are no off-diagonal affinities, where kernels take a shorter path.
    """


PROBLEM = [name for name in Problem._fields if name != "second_kind"]
NOT_READ = ("affinities", "size_at_split", "size_at_merge", "shared", "is_packed")
STATE = [name for name in State._fields if name not in NOT_READ]
define_reference(
    Workspace,
    WorkspaceType,
    [*PROBLEM, *STATE, "strength", "off_diagonal", *BY_ROWS, "diagonal"],
)


@kernel
def open_workspace(problem, state):
    """A workspace of problem and state; their arrays are shared.

    Every thread opens its own: kernels count references to its arrays, and two would wait for each other.
    """
    affinities = state.affinities
    diagonal = len(affinities.value) == 0
    return Workspace(
        problem.n, problem.pair_weight, problem.counts, problem.penalty, problem.temperature, problem.shrinkage,
        problem.start, problem.middle, problem.node, problem.value,
        problem.hidden_start, problem.hidden_middle, problem.hidden_node,
        problem.kind, problem.linkable,
        state.member, state.held, state.send, state.receive, state.size, state.send_sum, state.receive_sum,
        state.background, state.count_price, state.send_by_kind, state.receive_by_kind,
        affinities.strength, affinities.value,
        affinities.start, affinities.other, affinities.place,
        affinities.into_start, affinities.into_other, affinities.into_place,
        diagonal,
    )  # fmt: skip
