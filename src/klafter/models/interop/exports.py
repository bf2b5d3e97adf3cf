"""Tables and graphs of other libraries, as methods of all models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from klafter.models.interop import tables
from klafter.models.interop.placement import Placement, place
from klafter.models.interop.transformer import MembershipTransformer

if TYPE_CHECKING:  # so that editors complete what is done with them
    import cdlib
    import igraph
    import networkx
    import pandas


class Exports(MembershipTransformer):
    """What was found, in the forms in which other libraries want it."""

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
        table: pandas.DataFrame = tables.nodes_frame(self)
        return table

    def communities_frame(self) -> pandas.DataFrame:
        """One row for each community, as a pandas table.

        Returns
        -------
        DataFrame
            With columns name, size, links_inside, density (the share of its pairs that are linked), stability (NaN
            without other restarts) and members.
        """
        check_is_fitted(self, "memberships_")
        table: pandas.DataFrame = tables.communities_frame(self)
        return table

    def to_networkx(self) -> networkx.Graph:
        """The network for networkx, with what was found as node attributes.

        Returns
        -------
        networkx.Graph or DiGraph
            Nodes have ``communities`` (numbers), their ``probabilities``, ``partition``, and the attributes of the
            graph; links a ``weight`` where not all are 1. Of a two-mode network nodes have ``kind`` and ``bipartite``.
        """
        check_is_fitted(self, "memberships_")
        graph: networkx.Graph = tables.networkx_graph(self)
        return graph

    def to_igraph(self) -> igraph.Graph:
        """The network for igraph, with what was found as vertex attributes; see ``to_networkx``.

        Returns
        -------
        igraph.Graph
            Labels are the vertex attribute ``name``.
        """
        check_is_fitted(self, "memberships_")
        graph: igraph.Graph = tables.igraph_graph(self)
        return graph

    def to_node_clustering(self) -> cdlib.NodeClustering:
        """The communities for cdlib, whose measures and pictures then work.

        Returns
        -------
        cdlib.NodeClustering
        """
        check_is_fitted(self, "memberships_")
        clustering: cdlib.NodeClustering = tables.node_clustering(self)
        return clustering

    def place(
        self,
        links: Any,
        unlinked: Any = None,
        *,
        linked_by: Any = None,
        values: Any = None,
        attributes: Mapping[str, Any] | None = None,
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

        Returns
        -------
        Placement
            With ``memberships``, ``probabilities``, names of ``communities``, ``predict_proba`` and ``top_links``. The
            model's own prediction: the structural expert, which learns from the network, has no part in it.

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
        return place(self, links, unlinked, linked_by, values, attributes)
