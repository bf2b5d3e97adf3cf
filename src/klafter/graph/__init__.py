"""What was observed: Graph, readers and writers, splits of dyads."""

from klafter.graph.dyads import Dyads, Rows
from klafter.graph.graph import Graph

__all__ = ["Dyads", "Graph", "Rows"]
