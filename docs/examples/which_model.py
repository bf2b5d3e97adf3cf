"""
Which of the five models suits my network?
==========================================

Let them predict links that were hidden from all of them. ``compare`` gives every model the same splits, adds trivial
baselines, and reports means with standard errors.
"""

from typing import Any

import matplotlib.pyplot as plt

import klafter as kl
from klafter.datasets import load_southern_women
from klafter.models import EPM, IRM, LFRM, MMSB

graph = load_southern_women()
print(graph)

# %%
# Eighteen women and the fourteen events they attended. Only pairs of a woman and an event could be linked, and no such
# pair has common neighbours, so that these do no better than a coin. A community holds women and their events; a model
# with an affinity for every pair of groups can also say "these women and those events attract each other".

short: dict[str, Any] = {"n_burn": 30, "n_draws": 30, "random_state": 0}
models = [
    kl.KLafter(n_init=2, n_smooth=30, structure=0.0, random_state=0),
    LFRM(n_chains=1, **short),
    IRM(n_chains=1, **short),
    MMSB(n_communities=3, n_chains=1, **short),
    EPM(n_chains=1, **short),
]
table = kl.compare(models, graph, splits=3)
print(table)

# %%
# The same as a picture, with standard errors. The dashed line is a coin.

rows = sorted(table.rows, key=lambda row: row["roc_auc"])
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.errorbar([row["roc_auc"] for row in rows], range(len(rows)), xerr=[row["roc_auc_se"] for row in rows], fmt="o")
ax.set(yticks=range(len(rows)), yticklabels=[row["model"] for row in rows], xlabel="AUC on hidden links", xlim=(0, 1))
ax.axvline(0.5, color="grey", lw=0.8, ls="--")

# %%
# The chains here are short so that the page builds in seconds; use the defaults for a decision. Differences smaller
# than two standard errors are not differences.
