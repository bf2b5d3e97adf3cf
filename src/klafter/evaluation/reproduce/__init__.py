"""The tables and the figure of Arora et al. (IJCAI 2018) again, on the paper's protocol and on clean splits.

Each of ``table1``, ``figure1``, ``table2`` and ``convergence`` measures, saves a JSON file in ``results`` and returns
its content; ``all`` runs the four and writes the page. Runs of Table 1 that are already saved are not repeated: move
``table1_runs.json`` away after a change of the algorithms. What they share:

quick : bool
    One split and short chains: to see that it works, not for claims. Files are then named ``*_quick.json``.
results : path
    Folder of the results.
networks : sequence of str
    Data sets by name.
splits, starts : int, optional
    How many; default five, one when quick.
data_home : path, optional
    Folder of the data files.
n_jobs : int, optional
    Chains and restarts side by side; what is timed runs alone.
callback : callable, optional
    Called with every run, curve and row as it is measured; returning True ends the part with what there is.
"""

from klafter.evaluation.reproduce.convergence import convergence
from klafter.evaluation.reproduce.everything import everything, n_records, page
from klafter.evaluation.reproduce.figure1 import figure1
from klafter.evaluation.reproduce.table1 import table1
from klafter.evaluation.reproduce.table2 import table2

all = everything

__all__ = ["all", "convergence", "figure1", "n_records", "page", "table1", "table2"]
