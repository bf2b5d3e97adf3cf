"""
Which lawyers bridge the offices?
=================================

Lazega asked the 71 lawyers of a firm with whom they work. The firm has offices in Boston, Hartford and Providence. Do
its working circles follow the offices, and who holds them together?

The data are fetched on first use, or read from the folder that the environment variable ``KLAFTER_DATA`` names. Where
neither is possible this page shows the code without its results.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

import klafter as kl
from klafter.datasets import fetch_lazega
from klafter.report import gather, plot_adjacency, plot_network

graph = fetch_lazega("work")
model = kl.KLafter(penalty=3.0, n_init=4, n_smooth=20, random_state=0).fit(graph)
office = graph.attributes["office"]
for number, column in enumerate(model.memberships_.T):
    print(number, dict(Counter(office[column > 0].tolist())))

# %%
# A circle gets its meaning from what its members have in common. The report tests every attribute value against
# chance (hypergeometric, corrected for the number of tests); the same facts are here as data.

for community in gather(model).communities:
    common = [f"{e.attribute} {e.value} ({e.inside} of {e.members})" for e in community.enriched]
    print(community.number, "; ".join(common) or "nothing more often than chance")

# %%
# The bridges: lawyers in several circles, or in a circle whose other members mostly sit elsewhere.

for i, row in enumerate(model.memberships_):
    circles = np.flatnonzero(row)
    others = [office[j] for k in circles for j in np.flatnonzero(model.memberships_[:, k]) if j != i]
    away = sum(place != office[i] for place in others)
    if len(circles) > 1 or away > len(others) / 2:
        status, practice = graph.attributes["status"][i], graph.attributes["practice"][i]
        print(f"{graph.label(i):4} {office[i]:10} {status}, {practice}: circles {circles.tolist()}")

# %%
# The network, and the matrix of who works with whom in the order of the circles.

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
plot_network(model, left)
plot_adjacency(model, right)
