"""
Which proteins interact but nobody has seen it?
===============================================

An interaction that is not in the table may be absent, or may never have been tested. The model ranks the pairs without
a known interaction; a laboratory would test from the top. How far down can it go?

The data are fetched on first use, or read from the folder that the environment variable ``KLAFTER_DATA`` names. Where
neither is possible this page shows the code without its results.
"""

import matplotlib.pyplot as plt

import klafter as kl
from klafter.datasets import fetch_protein230
from klafter.evaluation import link_measures
from klafter.report import plot_roc

graph = fetch_protein230()
print(graph)

# %%
# First the honest check: hide a fifth of all pairs, interactions and others alike, fit to the rest, and see whether
# the hidden interactions come out on top. Hidden pairs are unknown to the model; they are not treated as absent.

train, held = kl.split_dyads(graph, fraction=0.2, random_state=0)
judged = kl.KLafter(n_init=2, n_smooth=20, random_state=0).fit(train)
measures = link_measures(held.values, judged.predict_proba(held.pairs))
print({name: round(value, 3) for name, value in measures.items()})

# %%
# Beside it, the rules of thumb that cost nothing.

fig, ax = plt.subplots(figsize=(5, 5), layout="constrained")
plot_roc(judged, held.pairs, held.values, ax)

# %%
# Then the question itself, to a model that has seen everything there is to see.

model = kl.KLafter(n_init=2, n_smooth=20, random_state=0).fit(graph)
for a, b, probability in model.top_links(10):
    print(f"{a:4} {b:4} {probability:.2f}")

# %%
# And the weightiest reasons for the first of them, in log odds.

first = model.top_links(1)[0]
for what, value in model.explain(first[0], first[1]).parts[:5]:
    print(f"{value:+.2f}  {what}")
