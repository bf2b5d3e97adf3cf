"""What a model found as pandas tables, and as graphs of other libraries."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from klafter.graph import Graph


def links_frame(links: list[tuple[Any, Any, float]]) -> Any:
    """Pairs and their probabilities."""
    return library("pandas", "a table").DataFrame(links, columns=["source", "target", "probability"])


def nodes_frame(model: Any) -> Any:
    """One row for each node: its label, communities, partition, probabilities, attributes."""
    pandas, graph = library("pandas", "a table"), model.graph_
    names, proba = model.community_names_, model.membership_proba_
    z = sparse.csr_array(model.memberships_)
    held = [tuple(names[k] for k in sorted(z.indices[a:b].tolist())) for a, b in pairwise(z.indptr)]
    columns = {
        **({} if graph.kinds is None else {"kind": graph.kinds}),
        "degree": np.diff(graph.links.indptr) + (np.diff(graph.links.tocsc().indptr) if graph.directed else 0),
        "communities": held,
        "n_communities": [len(row) for row in held],
        "partition": model.labels_,
    }
    index = pandas.Index(node_labels(graph), name="node")
    table = pandas.DataFrame(columns, index=index)
    if sparse.issparse(proba):
        beliefs = pandas.DataFrame.sparse.from_spmatrix(proba, index=index, columns=names)
    else:
        beliefs = pandas.DataFrame(proba, index=index, columns=names)
    known = pandas.DataFrame({name: list(values) for name, values in graph.attributes.items()}, index=index)
    taken = {*table.columns, *names}
    known = known.rename(columns={name: f"{name} (attribute)" for name in known.columns if name in taken})
    return pandas.concat([table, beliefs, known], axis=1)


def communities_frame(model: Any) -> Any:
    """One row for each community: name, size, links inside, density, stability, members."""
    pandas, graph = library("pandas", "a table"), model.graph_
    z = sparse.csr_array(model.memberships_, dtype=float)
    size = np.asarray(z.sum(axis=0)).ravel()
    present = sparse.csr_array(graph.links != 0, dtype=float)
    inside = np.asarray((present @ z).multiply(z).sum(axis=0)).ravel() / (1 if graph.directed else 2)
    pairs = size * (size - 1) / (1 if graph.directed else 2)
    if graph.second_kind is not None:
        n_second = np.asarray(z[graph.second_kind].sum(axis=0)).ravel()
        pairs = n_second * (size - n_second)
    stability = model.stability_
    return pandas.DataFrame(
        {
            "name": model.community_names_,
            "size": size.astype(int),
            "links_inside": inside.astype(int),
            "density": np.divide(inside, pairs, out=np.full(len(size), np.nan), where=pairs > 0),
            "stability": np.full(len(size), np.nan) if stability is None else stability,
            "members": [sorted(members, key=str) for members in model.communities()],
        },
        index=pandas.RangeIndex(len(size), name="community"),
    )


def networkx_graph(model: Any) -> Any:
    """The network for networkx, what is known of its nodes with it."""
    graph = model.graph_
    networkx = library("networkx", "to_networkx")
    made = networkx.DiGraph() if graph.directed else networkx.Graph()
    labels, known = node_labels(graph), node_facts(model)
    made.add_nodes_from((label, {name: values[i] for name, values in known.items()}) for i, label in enumerate(labels))
    row, col, value = _links(graph)
    weighted = bool((value != 1).any())
    for i, j, v in zip(row.tolist(), col.tolist(), value.tolist()):
        made.add_edge(labels[i], labels[j], **({"weight": v} if weighted else {}))
    return made


def igraph_graph(model: Any) -> Any:
    """The same for igraph; labels are the vertex attribute ``name``."""
    graph, igraph = model.graph_, library("igraph", "to_igraph")
    row, col, value = _links(graph)
    made = igraph.Graph(n=graph.n_nodes, edges=np.column_stack([row, col]).tolist(), directed=graph.directed)
    made.vs["name"] = [str(label) for label in node_labels(graph)]
    for name, values in node_facts(model).items():
        made.vs[name] = values
    if (value != 1).any():
        made.es["weight"] = value.tolist()
    return made


def node_clustering(model: Any) -> Any:
    """The communities for cdlib."""
    kind = library("cdlib", "to_node_clustering").NodeClustering
    members = [sorted(found, key=str) for found in model.communities() if found]
    return kind(members, networkx_graph(model), type(model).__name__, model.get_params(deep=False), overlap=True)


def node_facts(model: Any) -> dict[str, list[Any]]:
    """Communities (numbers), partition, probabilities of held communities and attributes, by node."""
    graph, z = model.graph_, sparse.csr_array(model.memberships_)
    proba = sparse.csr_array(model.membership_proba_)
    held = [sorted(z.indices[a:b].tolist()) for a, b in pairwise(z.indptr)]
    kinds = {} if graph.kinds is None else {"kind": graph.kinds.tolist(), **_sides(graph)}
    return {
        **{name: [_plain(v) for v in values] for name, values in graph.attributes.items()},
        **kinds,
        "communities": held,
        "probabilities": [[float(proba[i, k]) for k in row] for i, row in enumerate(held)],
        "partition": model.labels_.tolist(),
    }


def _sides(graph: Graph) -> dict[str, list[Any]]:
    """What networkx and igraph call two kinds of nodes."""
    second = np.asarray(graph.second_kind)
    return {"bipartite": second.astype(int).tolist(), "type": second.tolist()}


def node_labels(graph: Graph) -> list[Any]:
    """Labels, or numbers where there are none."""
    return [graph.label(i) for i in range(graph.n_nodes)]


def _links(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends and values of links, each undirected one once."""
    coo = sparse.coo_array(graph.links if graph.directed else sparse.triu(graph.links, 1))
    return coo.row, coo.col, coo.data


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def library(name: str, what: str) -> Any:
    """A library that klafter does without, or a sentence that says what to install."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed, and {what} needs it: pip install {name}") from None
