"""The gain of a trade: the loss on its patch with the old columns less the loss with the new ones."""

import numpy as np

from klafter.search.sparse.exchange_kernels import (
    Subgraph,
    cut_subgraph,
    subgraph_flips,
    subgraph_loss,
    subgraph_weights,
)
from klafter.search.sparse.state import Problem, State
from klafter.search.sparse.workspace import Workspace, open_workspace


def exchange_gain(problem: Problem, state: State, nodes, out, z, w, rounds: int, local: np.ndarray) -> float:
    """The gain of giving up ``out`` for columns z (q, m) of strengths w on ``nodes``, first improved in place."""
    ws = open_workspace(problem, state)
    subgraph, old, room = cut(ws, problem, state, nodes, out, local)
    before = subgraph_loss(ws, nodes, subgraph, old, state.strength[out])
    for column in z:
        column &= room > 0
        room -= column
    for turn in range(rounds):
        for _ in range(4 if turn == 0 else 1):  # strengths that fit the columns before any flip
            subgraph_weights(ws, nodes, subgraph, z, w)
        if subgraph_flips(ws, nodes, subgraph, z, w) == 0 and turn > 2:
            break
    return before - subgraph_loss(ws, nodes, subgraph, z, w)


def cut(ws: Workspace, problem: Problem, state: State, nodes, out, local) -> tuple[Subgraph, np.ndarray, np.ndarray]:
    """The patch without ``out``, the columns of these, and how many communities more each node has room for."""
    number = problem.start[nodes + 1] - problem.start[nodes]
    links = int(number.sum())
    hidden = int((problem.hidden_start[nodes + 1] - problem.hidden_start[nodes]).sum())
    old, room = np.zeros((len(out), len(nodes)), bool), number - state.held[nodes]
    subgraph = cut_subgraph(ws, nodes, out, local, np.zeros(len(state.size), bool), old, room, links, hidden)
    room += old.sum(axis=0)
    return subgraph, old, room
