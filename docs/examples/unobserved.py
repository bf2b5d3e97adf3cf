"""
What if nobody asked?
=====================

A survey reaches half of a class. Two pupils who were both not reached are then unlinked in the table, but nobody knows
whether they are friends. Most tools read the missing entry as "no". Here it can be left open, and it matters.
"""

import matplotlib.pyplot as plt
import numpy as np

import klafter as kl
from klafter.datasets import make_lfrm
from klafter.evaluation import link_measures

graph, truth = make_lfrm(n=90, random_state=3)
print(graph)

# %%
# Hide the pairs among half of the nodes.

rng = np.random.default_rng(0)
missed = rng.permutation(graph.n_nodes)[:45]
pairs = np.array([(i, j) for i in missed for j in missed if i < j])
values = np.asarray(graph.links[pairs[:, 0], pairs[:, 1]]).ravel()
unknown = graph.hide(pairs)
print(unknown)

# %%
# The same network with those entries read as "no":

links = graph.links.toarray()
links[np.ix_(missed, missed)] = 0
denied = kl.Graph(links)

# %%
# Two fits, one question: which of the pairs nobody asked about are linked?

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
for name, network in {"left open": unknown, "read as no": denied}.items():
    model = kl.KLafter(n_init=1, n_smooth=20, random_state=0).fit(network)
    chance = model.predict_proba(pairs)
    ax.hist(chance[values > 0], bins=np.linspace(0, 1, 21).tolist(), histtype="step", lw=2, label=name)
    auc = link_measures(values, chance)["roc_auc"]
    print(f"{name:10}: AUC {auc:.3f}, expected links {chance.sum():6.1f}, true links {values.sum():.0f}")
ax.set(xlabel="predicted probability", ylabel="true links among the pairs nobody asked about")
ax.legend(frameon=False)

# %%
# Ranking suffers a little, the probabilities suffer a lot: told "no" so often, the model expects far too few links.
# On the command line: ``klafter fit class.tsv --hidden unasked.tsv``.
