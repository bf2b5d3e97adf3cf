"""What kernels of the sparse engine look at: the fields of problem and state side by side.

Kernels receive one reference to a struct of these. As tuples of twenty arrays, which every call hands over one by one,
they would take twice as long to compile.
"""

from numba import types
from numba.experimental import structref

from klafter.jit.decorators import kernel
from klafter.jit.structs import define_reference
from klafter.search.sparse.state import Problem, State


class WorkspaceType(types.StructRef):
    """The type of views in kernels."""


class Workspace(structref.StructRefProxy):
    """A reference to the fields, as kernels take it."""


define_reference(Workspace, WorkspaceType, [*Problem._fields, *State._fields])


@kernel
def open_workspace(problem, state):
    """A view of problem and state; their arrays are shared.

    Every thread takes a view of its own: kernels count references to its arrays, and two would wait for each other.
    """
    return Workspace(
        problem.n, problem.pair_weight, problem.counts, problem.penalty, problem.temperature, problem.shrinkage,
        problem.start, problem.middle, problem.node, problem.value,
        problem.hidden_start, problem.hidden_middle, problem.hidden_node,
        state.member, state.held, state.send, state.receive, state.size, state.send_sum, state.receive_sum,
        state.strength, state.size_at_split, state.background,
    )  # fmt: skip
