"""Tables and graphs of other libraries, as methods of all models."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from klafter.graph import Graph
from klafter.graph.kinds.modes import rule_as_text
from klafter.graph.units import list_links
from klafter.models.interop.placement import Placement, place
from klafter.models.interop.transformer import MembershipTransformer

if TYPE_CHECKING:  # so that editors complete what is done with them
    import cdlib
    import igraph
    import networkx
    import pandas


class Exports(MembershipTransformer):
    """What was found, in the forms in which other libraries want it."""

    if TYPE_CHECKING:
        memberships_: Any
        n_communities_: int

        @property
        def labels_(self) -> np.ndarray: ...

        @property
        def stability_(self) -> np.ndarray | None: ...

        def communities(self) -> list[set[Any]]: ...

    def to_frame(self) -> pandas.DataFrame:
        """One row for each node, as a pandas table.

        Returns
        -------
        DataFrame
            The index holds the labels; columns are degree, the names of the communities that the node is in, how many
            they are, the number of its place in the partition, one column of probabilities for each community (sparse
            where ``membership_proba_`` is), and the attributes.
        """
        check_is_fitted(self, "memberships_")
        pd, graph = library("pandas", "a table"), self.graph_
        names, proba = self.community_names_, self.membership_proba_
        z = sparse.csr_array(self.memberships_)
        held = [tuple(names[k] for k in sorted(z.indices[a:b].tolist())) for a, b in pairwise(z.indptr)]
        columns = {
            **({} if graph.kinds is None else {"kind": graph.kinds}),
            "degree": np.diff(graph.links.indptr) + (np.diff(graph.links.tocsc().indptr) if graph.directed else 0),
            "communities": held,
            "n_communities": [len(row) for row in held],
            "partition": self.labels_,
        }
        index = pd.Index(node_labels(graph), name="node")
        table = pd.DataFrame(columns, index=index)
        if sparse.issparse(proba):
            beliefs = pd.DataFrame.sparse.from_spmatrix(proba, index=index, columns=names)
        else:
            beliefs = pd.DataFrame(proba, index=index, columns=names)
        known = pd.DataFrame({name: list(values) for name, values in graph.attributes.items()}, index=index)
        taken = {*table.columns, *names}
        known = known.rename(columns={name: f"{name} (attribute)" for name in known.columns if name in taken})
        whole: pandas.DataFrame = pd.concat([table, beliefs, known], axis=1)
        return whole

    def communities_frame(self) -> pandas.DataFrame:
        """One row for each community, as a pandas table.

        Returns
        -------
        DataFrame
            With columns name, size, links_inside, density (the share of its pairs that are linked), stability (NaN
            without other restarts) and members.
        """
        check_is_fitted(self, "memberships_")
        pd, graph = library("pandas", "a table"), self.graph_
        z = sparse.csr_array(self.memberships_, dtype=float)
        size = np.asarray(z.sum(axis=0)).ravel()
        present = sparse.csr_array(graph.links != 0, dtype=float)
        inside = np.asarray((present @ z).multiply(z).sum(axis=0)).ravel() / (1 if graph.directed else 2)
        pairs = size * (size - 1) / (1 if graph.directed else 2)
        if graph.rule is not None:
            of_kind = np.array([np.asarray(z[nodes].sum(axis=0)).ravel() for nodes in graph.rule.nodes()])
            linkable = graph.rule.table.astype(float)
            pairs = (of_kind * (linkable @ of_kind)).sum(axis=0) - np.diag(linkable) @ of_kind
            pairs = pairs / (1 if graph.directed else 2)
        stability = self.stability_
        table: pandas.DataFrame = pd.DataFrame(
            {
                "name": self.community_names_,
                "size": size.astype(int),
                "links_inside": inside.astype(int),
                "density": np.divide(inside, pairs, out=np.full(len(size), np.nan), where=pairs > 0),
                "stability": np.full(len(size), np.nan) if stability is None else stability,
                "members": [sorted(members, key=str) for members in self.communities()],
            },
            index=pd.RangeIndex(len(size), name="community"),
        )
        return table

    def to_networkx(self) -> networkx.Graph:
        """The network for networkx, with what was found as node attributes.

        Returns
        -------
        networkx.Graph or DiGraph
            Nodes have ``communities`` (numbers), their ``probabilities``, ``partition``, and the attributes of the
            graph; links a ``weight`` where not all are 1. Where there are kinds of nodes, these have ``kind``, of a
            two-mode network also ``bipartite``; other rules are the graph attribute ``kind_pairs``.
        """
        check_is_fitted(self, "memberships_")
        graph, nx = self.graph_, library("networkx", "to_networkx")
        made: networkx.Graph = nx.DiGraph() if graph.directed else nx.Graph()
        made.graph.update(rule_as_text(graph))
        labels, known, (pairs, values) = node_labels(graph), node_facts(self), list_links(graph)
        made.add_nodes_from((label, {name: of[i] for name, of in known.items()}) for i, label in enumerate(labels))
        weighted = bool((values != 1).any())
        for (i, j), value in zip(pairs.tolist(), values.tolist()):
            made.add_edge(labels[i], labels[j], **({"weight": value} if weighted else {}))
        return made

    def to_igraph(self) -> igraph.Graph:
        """The network for igraph, with what was found as vertex attributes; see ``to_networkx``.

        Returns
        -------
        igraph.Graph
            Labels are the vertex attribute ``name``.
        """
        check_is_fitted(self, "memberships_")
        graph, ig, (pairs, values) = self.graph_, library("igraph", "to_igraph"), list_links(self.graph_)
        made: igraph.Graph = ig.Graph(n=graph.n_nodes, edges=pairs.tolist(), directed=graph.directed)
        made.vs["name"] = [str(label) for label in node_labels(graph)]
        for name, of in node_facts(self).items():
            made.vs[name] = of
        for name, text in rule_as_text(graph).items():
            made[name] = text
        if (values != 1).any():
            made.es["weight"] = values.tolist()
        return made

    def to_node_clustering(self) -> cdlib.NodeClustering:
        """The communities for cdlib, whose measures and pictures then work.

        Returns
        -------
        cdlib.NodeClustering
        """
        check_is_fitted(self, "memberships_")
        kind = library("cdlib", "to_node_clustering").NodeClustering
        members = [sorted(held, key=str) for held in self.communities() if held]
        about = members, self.to_networkx(), type(self).__name__, self.get_params(deep=False)
        found: cdlib.NodeClustering = kind(*about, overlap=True)
        return found

    def place(
        self,
        links: Any,
        unlinked: Any = None,
        *,
        linked_by: Any = None,
        values: Any = None,
        attributes: Mapping[str, Any] | None = None,
        kind: str | None = None,
    ) -> Placement:
        """Where a node that was not in the network belongs, from some of its links; nothing is fitted again.

        Parameters
        ----------
        links : list of labels, or integer array of rows
            Nodes that it links to.
        unlinked : list of labels, integer array of rows, or "others", optional
            Nodes that it was observed not to link to, or all but ``links``, which win where both name a node; of the
            rest nothing is known. ``EPM`` and real values need some: links alone do not bound their rates.
        linked_by : list of labels, or integer array of rows, optional
            Of a directed network, nodes that link to it. Default: not known.
        values : (m,) array, optional
            Values of ``links``, where they are counts or real numbers.
        attributes : mapping of name to value, optional
            Of a model that was fitted with attributes, those of the newcomer that are known.
        kind : str, optional
            Of a network of several kinds of nodes, that of the newcomer. Default: the only one that its links allow.

        Returns
        -------
        Placement
            With ``memberships``, ``probabilities``, names of ``communities``, ``predict_proba`` and ``top_links``. Up
            to 2,000 nodes the structural expert looks at the newcomer's surroundings too, if it has links;
            ``structure=0`` leaves it out, and ``log_likelihood`` is the model's own.

        Examples
        --------
        >>> import klafter as kl
        >>> from klafter.datasets import load_les_miserables
        >>> model = kl.KLafter(n_init=1, n_smooth=30, random_state=0).fit(load_les_miserables())
        >>> newcomer = model.place(["Enjolras", "Combeferre", "Courfeyrac"])
        >>> newcomer.predict_proba(["Feuilly"]) > 10 * newcomer.predict_proba(["Tholomyes"])
        array([ True])
        """
        check_is_fitted(self, "draws_")
        return place(self, links, unlinked, linked_by, values, attributes, kind)


def links_frame(links: list[tuple[Any, Any, float]]) -> Any:
    """Pairs and their probabilities."""
    return library("pandas", "a table").DataFrame(links, columns=["source", "target", "probability"])


def node_facts(model: Any) -> dict[str, list[Any]]:
    """Communities (numbers), partition, probabilities of held communities and attributes, by node."""
    graph, z = model.graph_, sparse.csr_array(model.memberships_)
    proba = sparse.csr_array(model.membership_proba_)
    held = [sorted(z.indices[a:b].tolist()) for a, b in pairwise(z.indptr)]
    kinds: dict[str, list[Any]] = {}
    if graph.kinds is not None:
        kinds["kind"] = graph.kinds.tolist()
    if graph.second_kind is not None:  # as networkx and igraph call them
        kinds |= {"bipartite": graph.second_kind.astype(int).tolist(), "type": graph.second_kind.tolist()}
    return {
        **{name: [_plain(v) for v in values] for name, values in graph.attributes.items()},
        **kinds,
        "communities": held,
        "probabilities": [[float(proba[i, k]) for k in row] for i, row in enumerate(held)],
        "partition": model.labels_.tolist(),
    }


def node_labels(graph: Graph) -> list[Any]:
    """Labels, or numbers where there are none."""
    return [graph.label(i) for i in range(graph.n_nodes)]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def library(name: str, what: str) -> Any:
    """A library that klafter does without, or a sentence that says what to install."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed, and {what} needs it: pip install {name}") from None
