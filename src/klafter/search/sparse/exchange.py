"""The gain of a trade: the loss on its patch with the old columns less the loss with the new ones."""

import numpy as np

from klafter.search.sparse.exchange_kernels import Patch, cut_patch, patch_flips, patch_loss, patch_weights
from klafter.search.sparse.state import Problem, State
from klafter.search.sparse.workspace import Workspace, open_workspace


def trade_gain(problem: Problem, state: State, nodes, out, z, w, rounds: int, local: np.ndarray) -> float:
    """The gain of giving up ``out`` for columns z (q, m) of strengths w on ``nodes``, first improved in place."""
    ws = open_workspace(problem, state)
    patch, old, room = cut(ws, problem, state, nodes, out, local)
    before = patch_loss(ws, nodes, patch, old, state.strength[out])
    for column in z:
        column &= room > 0
        room -= column
    for turn in range(rounds):
        for _ in range(4 if turn == 0 else 1):  # strengths that fit the columns before any flip
            patch_weights(ws, nodes, patch, z, w)
        if patch_flips(ws, nodes, patch, z, w) == 0 and turn > 2:
            break
    return before - patch_loss(ws, nodes, patch, z, w)


def cut(ws: Workspace, problem: Problem, state: State, nodes, out, local) -> tuple[Patch, np.ndarray, np.ndarray]:
    """The patch without ``out``, the columns of these, and how many communities more each node has room for."""
    number = problem.start[nodes + 1] - problem.start[nodes]
    links = int(number.sum())
    hidden = int((problem.hidden_start[nodes + 1] - problem.hidden_start[nodes]).sum())
    old, room = np.zeros((len(out), len(nodes)), bool), number - state.held[nodes]
    patch = cut_patch(ws, nodes, out, local, np.zeros(len(state.size), bool), old, room, links, hidden)
    room += old.sum(axis=0)
    return patch, old, room
