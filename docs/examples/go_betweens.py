"""
Who are the go-betweens in Les Misérables?
==========================================

Two characters of the novel are linked when they meet in a chapter. A go-between is somebody who belongs to several
circles at once. Methods that cut a network into separate pieces cannot see such people: each of them has to be given
to one side. Here a character may be in any number of circles, or in none.
"""

import matplotlib.pyplot as plt
import numpy as np

import klafter as kl
from klafter.datasets import load_les_miserables
from klafter.report import plot_network

graph = load_les_miserables()
model = kl.KLafter(n_init=4, n_smooth=20, random_state=0).fit(graph)
for number, members in enumerate(model.communities()):
    print(f"{number}: {', '.join(sorted(members))}")

# %%
# Those in two circles or more, and which:

several = np.flatnonzero(model.memberships_.sum(axis=1) > 1)
for i in several:
    print(f"{graph.label(i):12} {np.flatnonzero(model.memberships_[i]).tolist()}")

# %%
# In the drawing a go-between is a pie: a slice for each circle. Grey characters are in none: how much they meet people
# at all is enough to explain whom they meet.

fig, ax = plt.subplots(figsize=(8, 6), layout="constrained")
plot_network(model, ax, labels=True)

# %%
# ``explain`` says what a circle contributes to one meeting. The parts add up to the log odds of the probability, which
# averages over several fits and listens to the neighbourhood as well.

print(model.explain("Gavroche", "Enjolras"))

# %%
# The whole story, with search and zoom, goes into one file that opens without a connection:
# ``kl.report(model, "novel.html")``.
