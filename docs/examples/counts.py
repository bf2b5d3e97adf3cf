"""
My links are counts, or directed
================================

How often two characters meet says more than whether they do. ``family="poisson"`` reads link values as counts,
``family="gaussian"`` as real numbers; everything else stays as it is.
"""

import matplotlib.pyplot as plt

import klafter as kl
from klafter.datasets import load_les_miserables, make_lfrm
from klafter.report import plot_affinities, plot_memberships

graph = load_les_miserables(weighted=True)
print(graph, "values to", graph.links.data.max())

# %%
# A model that expects 0 and 1 refuses counts, and says what to do:

try:
    kl.KLafter().fit(graph)
except ValueError as refusal:
    print(refusal)

# %%

model = kl.KLafter(family="poisson", n_init=1, n_smooth=10, random_state=0).fit(graph)
pairs = [("Valjean", "Cosette"), ("Valjean", "Javert"), ("Javert", "Cosette")]
for pair, probability, count in zip(pairs, model.predict_proba(pairs), model.predict(pairs)):
    print(pair, f"probability of meeting {probability:.2f}, expected meetings {count:.1f}")

# %%
# Who is in which circle, and how circles attract (purple) or avoid each other (orange).

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_memberships(model, left)
plot_affinities(model, right)

# %%
# Directions need no setting: a matrix that is not symmetric is a directed network. The affinity of one community to
# another may then differ from the way back.

arcs, _ = make_lfrm(n=50, k=3, directed=True, random_state=0)
directed = kl.KLafter(n_init=1, n_smooth=0, random_state=0).fit(arcs)
print(directed.graph_)
print(directed.affinities_.round(1)[:3, :3])
