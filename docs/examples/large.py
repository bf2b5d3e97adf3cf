"""
My graph has a million nodes
============================

Then the sparse engine takes over. Its link function lets the sum over all pairs without a link be computed from column
sums, so a step costs what the links cost and nothing grows with the square of the nodes. ``link="auto"`` switches by
itself beyond 2,500 nodes; ``model.link_`` says which it was.

This page uses 10,000 nodes so that it builds in seconds. The README lists measured times for larger ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import klafter as kl
from klafter.datasets import make_overlapping
from klafter.evaluation import average_f1

graph, truth = make_overlapping(n=10_000, random_state=0)
print(graph)
print(truth.n_communities, "planted communities, each node in one to three")

# %%
# Your own comes from ``kl.read_graph("edges.tsv.gz")`` or from a scipy.sparse matrix. Restarts rarely pay at this size,
# and there is no smoothing around the optimum.

model = kl.KLafter(n_init=1, random_state=0).fit(graph)
print(f"{model.n_communities_} communities, link {model.link_!r}, {model.fit_seconds_:.1f} s")
print(f"average F1 with the planted ones: {average_f1(model.memberships_, truth.memberships):.3f}")

# %%
# Sizes of the communities found, and of those planted, largest first:

fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
for name, memberships in {"planted": truth.memberships, "found": model.memberships_}.items():
    ax.plot(np.sort(memberships.sum(axis=0))[::-1], label=name)
ax.set(xlabel="community", ylabel="members", ylim=(0, None))
ax.legend(frameon=False)

# %%
# Memberships are sparse, and so is everything that comes out of them.

print(repr(model.memberships_))

# %%
# Beyond 2,000 nodes the report draws the network of communities instead of the nodes, and opens one community at a
# time: ``kl.report(model, "large.html")``. Several cores share one fit: ``kl.KLafter(n_jobs=-1)``.
