"""Figures for papers: each takes a fitted model and an ``ax``, draws on it, and returns it.

Text stays text and lines stay lines in PDF and SVG; colours can be told apart by colour-blind readers.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from klafter.models.results.cover import as_cover, entries, pattern, sizes
from klafter.models.results.names import name_communities
from klafter.report.fit import runs
from klafter.report.held_out import score_predictor
from klafter.report.levels import level_tree
from klafter.report.matrices import community_order, probabilities
from klafter.report.network import draw_network
from klafter.report.palette import COLOURS, NOBODY, community_colours

DRAWN = 3_000  # nodes of a figure that shows each of them


def plot_adjacency(model, ax=None, *, predicted: bool = False):
    """The adjacency matrix ordered by community, or the predicted probabilities in the same order.

    Parameters
    ----------
    model : fitted estimator
    ax : matplotlib Axes, optional
        A new figure when None.
    predicted : bool
        Whether to show probabilities instead of links, on a square-root scale.

    Returns
    -------
    Axes
    """
    graph = _small(model, "plot_adjacency")
    ax = _axes(ax)
    order, first = community_order(as_cover(model.memberships_))
    if predicted:
        cells = np.sqrt(probabilities(model)[np.ix_(order, order)])
        ax.imshow(cells, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    else:
        links = sparse.coo_array(pattern(graph.links)[order][:, order])
        ax.scatter(links.col, links.row, s=max(0.3, (160 / max(len(order), 1)) ** 2), marker="s", color="#16324a", lw=0)
        ax.set(xlim=(-0.5, len(order) - 0.5), ylim=(len(order) - 0.5, -0.5))
    for edge in np.flatnonzero(np.diff(first[order])) + 0.5:
        ax.axhline(edge, color=NOBODY, lw=0.4)
        ax.axvline(edge, color=NOBODY, lw=0.4)
    ax.set(aspect="equal", xticks=[], yticks=[], xlabel="nodes, by community", ylabel="nodes, by community")
    return ax


def plot_affinities(model, ax=None):
    """W as a heat map: blue favours links, orange discourages them.

    Parameters
    ----------
    model : a fitted model
    ax : matplotlib Axes, optional
        Where to draw; default: new ones.

    Returns
    -------
    Axes
    """
    ax = _axes(ax)
    w = model.affinities_
    w = np.asarray(w.toarray() if sparse.issparse(w) else w, float)
    largest = float(np.abs(w).max(initial=1e-9))
    image = ax.imshow(w, cmap="PuOr", vmin=-largest, vmax=largest, interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="affinity")
    ax.set(xlabel="to community", ylabel="from community")
    ax.locator_params(integer=True)
    return ax


def plot_memberships(model, ax=None):
    """Who is in which community: nodes in rows, ordered by community, each community in its colour.

    Parameters
    ----------
    model : a fitted model
    ax : matplotlib Axes, optional
        Where to draw; default: new ones.

    Returns
    -------
    Axes
    """
    ax = _axes(ax)
    z = as_cover(model.memberships_)
    order, _ = community_order(z)
    columns = np.argsort(-sizes(z), kind="stable")
    colours = community_colours(sizes(z))
    cells = sparse.coo_array(z[order][:, columns])
    ink = [colours[columns[k]] for k in cells.col]
    ax.scatter(cells.col, cells.row, s=max(1.0, 40_000 / max(len(order), 1) ** 1.5), marker="s", c=ink or None, lw=0)
    ax.set(xlim=(-0.5, max(len(columns), 1) - 0.5), ylim=(len(order) - 0.5, -0.5), ylabel="nodes", xlabel="community")
    if len(columns) <= 40:
        ax.set_xticks(range(len(columns)), [str(k) for k in columns])
    return ax


def plot_network(model, ax=None, *, labels: bool = False):
    """The network with pie-chart nodes: a slice for each community. Of very many links the strongest are drawn.

    Parameters
    ----------
    model : fitted estimator
    ax : matplotlib Axes, optional
    labels : bool
        Whether to write node labels.

    Returns
    -------
    Axes
    """
    from matplotlib.collections import LineCollection, PatchCollection

    graph = _small(model, "plot_network")
    ax = _axes(ax)
    z = as_cover(model.memberships_)
    drawing = draw_network(graph, z)
    place = np.column_stack([drawing.x, drawing.y])
    ends = np.array(drawing.links[: drawing.n_strong], dtype=int).reshape(-1, 2)
    ax.add_collection(LineCollection(list(place[ends]), colors="#6b7480", linewidths=0.4, alpha=0.35, zorder=1))
    wedges, ink = _pies(z, place, drawing.radius)
    ax.add_collection(PatchCollection(wedges, facecolors=ink, edgecolors="white", linewidths=0.3, zorder=2))
    if labels:
        for i, (x, y) in enumerate(place):
            ax.annotate(str(graph.label(i)), (x, y + drawing.radius[i]), ha="center", va="bottom", fontsize=5)
    ax.autoscale_view()
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _pies(z: sparse.csr_array, place: np.ndarray, radius: list[float]) -> tuple[list, list[str]]:
    """Wedges of all nodes and their colours."""
    from matplotlib.patches import Wedge

    colours, wedges, ink = community_colours(sizes(z)), [], []
    for i, (x, y) in enumerate(place):
        mine, weight = entries(z, i)
        turns = np.cumsum([0.0, *(360 * weight / weight.sum())]).tolist() if len(mine) else [0.0, 360.0]
        wedges += [Wedge((x, y), radius[i], a, b) for a, b in pairwise(turns)]
        ink += [colours[k] for k in mine] or [NOBODY]
    return wedges, ink


def plot_roc(model, pairs, values, ax=None, *, baselines: bool = True):
    """The ROC curve of held-out dyads, beside those of the trivial baselines.

    Parameters
    ----------
    model : fitted estimator
    pairs : (m, 2) rows or list of pairs of labels
    values : (m,) array
        Their link values.
    ax : matplotlib Axes, optional
    baselines : bool

    Returns
    -------
    Axes
    """
    from klafter.evaluation import BASELINES

    ax = _axes(ax)
    rows, links = model.graph_.pair_indices(pairs), np.asarray(values, float) > 0
    if not 0 < links.sum() < len(links):
        raise ValueError(f"plot_roc needs links and non-links; {links.sum()} of these {len(links)} dyads are links.")
    scores = {type(model).__name__: model.predict_proba(rows)}
    if baselines:
        scores |= {name: predict(model.graph_, rows) for name, predict in BASELINES.items()}
    for t, (name, each) in enumerate(scores.items()):
        scored = score_predictor(name, links, each)
        text = f"{name} ({scored.measures['roc_auc']:.3f})"
        ax.plot(*scored.roc, color=COLOURS[t % len(COLOURS)], lw=1.8 if t == 0 else 1, label=text, zorder=9 - t)
    ax.plot([0, 1], [0, 1], color=NOBODY, lw=0.8, ls="--")
    ax.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return ax


def plot_history(model, ax=None, *, quantity: str = "objective"):
    """Objective, or number of communities, against time, a line for each restart or chain.

    Parameters
    ----------
    model : fitted estimator
    ax : matplotlib Axes, optional
    quantity : {"objective", "n_communities"}

    Returns
    -------
    Axes
    """
    if quantity not in ("objective", "n_communities"):
        raise ValueError(f'plot_history shows "objective" or "n_communities"; {quantity!r} is neither.')
    ax = _axes(ax)
    found = runs(model)
    best = min(found, key=lambda run: min(run.objective), default=None)
    for run in found:
        ink, width = (COLOURS[0], 1.8) if run is best else (NOBODY, 1)
        ax.plot(run.seconds, getattr(run, quantity), color=ink, lw=width, zorder=2 if run is best else 1)
    ax.set(xlabel="seconds", ylabel="objective" if quantity == "objective" else "communities")
    return ax


def plot_levels(model, ax=None):
    """The tree of merges from the finest communities to one, as high as the score rises; the level shown is dashed.

    Parameters
    ----------
    model : fitted estimator
        One that has ``levels()``: a KLafter.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    levels = model.levels()
    if not levels[0].n_communities:
        raise ValueError("plot_levels needs communities; this model found none.")
    ax, tree = _axes(ax), level_tree(levels)
    for t, up in enumerate(tree.parents):
        low, high = tree.height[t], tree.height[t + 1]
        for k, parent in enumerate(up):
            x, to = tree.x[t][k], tree.x[t + 1][parent]
            ax.plot([x, x, to], [low, high, high], color=COLOURS[0], lw=1.4, solid_joinstyle="miter")
    shown = next(t for t, level in enumerate(levels) if level.shown)
    if shown + 1 < len(levels):
        ax.axhline((tree.height[shown] + tree.height[shown + 1]) / 2, color=NOBODY, lw=1, ls="--")
    names = name_communities(model.graph_, levels[0].memberships)
    ax.set_xticks(range(len(tree.order)), [names[k] for k in tree.order], rotation=45, ha="right")
    ax.set(ylabel="rise of the score", xlabel="finest communities")
    return ax


def plot_path(model, ax=None):
    """Score over folds, with standard errors, as ``KLafterCV`` found it: against the first of the grids.

    Parameters
    ----------
    model : a fitted model
    ax : matplotlib Axes, optional
        Where to draw; default: new ones.

    Returns
    -------
    Axes
    """
    table = getattr(model, "cv_results_", None)
    if table is None:
        raise ValueError(f"plot_path needs a fitted KLafterCV; {type(model).__name__} has no cv_results_.")
    ax = _axes(ax)
    name = next(iter(model.best_params_))
    along = np.array([float(each[name]) for each in table["params"]])
    rest = [tuple(sorted((k, v) for k, v in each.items() if k != name)) for each in table["params"]]
    mean, error = np.asarray(table["mean_test_score"], float), np.asarray(table["std_error"], float)
    for t, setting in enumerate(sorted(set(rest))):
        mine = np.array([i for i, each in enumerate(rest) if each == setting])
        mine = mine[np.argsort(along[mine])]
        text = ", ".join(f"{other} {value:g}" for other, value in setting)
        style = {"marker": "o", "ms": 4, "capsize": 3, "lw": 1.5, "color": COLOURS[t % len(COLOURS)]}
        ax.errorbar(along[mine], mean[mine], error[mine], label=text or None, **style)
    ax.axvline(float(model.best_params_[name]), color=NOBODY, lw=0.8, ls="--")
    ax.set(xlabel=name.replace("_", " "), ylabel=getattr(model, "scoring", "score").replace("_", " "))
    if any(rest):
        ax.legend(frameon=False, fontsize="small")
    return ax


def _axes(ax):
    """The given axes, or those of a new figure; says how to install matplotlib."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Figures need matplotlib: pip install "klafter[report]".') from error
    return plt.subplots(figsize=(5, 4), layout="constrained")[1]


def _small(model, name: str):
    graph = model.graph_
    if graph.n_nodes > DRAWN:
        raise ValueError(f"{name} draws up to {DRAWN:,} nodes; this graph has {graph.n_nodes:,}. Draw a part of it.")
    return graph
