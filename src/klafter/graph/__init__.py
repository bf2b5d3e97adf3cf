"""What was observed: Graph, readers and writers, splits of dyads."""

from klafter.graph.convert import as_graph
from klafter.graph.dyads import Dyads, Rows
from klafter.graph.graph import Graph
from klafter.graph.io.errors import GraphFileError
from klafter.graph.io.readers import read_graph
from klafter.graph.io.writers import write_graph
from klafter.graph.splits import DyadKFold, Held, split_dyads

__all__ = [
    "DyadKFold",
    "Dyads",
    "Graph",
    "GraphFileError",
    "Held",
    "Rows",
    "as_graph",
    "read_graph",
    "split_dyads",
    "write_graph",
]
