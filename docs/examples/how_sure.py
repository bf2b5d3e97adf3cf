"""
How sure is it?
===============

``KLafter`` gives one answer, the best it found. ``LFRM`` samples the posterior of the same model: every draw is a
possible answer, and what most draws share is what the data support.
"""

import matplotlib.pyplot as plt
import numpy as np

import klafter as kl
from klafter.datasets import load_karate
from klafter.report import plot_adjacency

graph = load_karate()
model = kl.LFRM(n_chains=2, n_burn=60, n_draws=80, random_state=0).fit(graph)

# %%
# The number of communities over the draws:

numbers, counts = np.unique([draw.memberships.shape[1] for draw in model.draws_], return_counts=True)
print(dict(zip(numbers.tolist(), counts.tolist())))

# %%
# How often two members of the club share a community. Numbers of communities differ from draw to draw and their order
# means nothing, but sharing one is a question that every draw can answer.

together = np.mean([(draw.memberships @ draw.memberships.T).toarray() > 0 for draw in model.draws_], axis=0)
order = np.argsort(together[0])[::-1]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
image = left.imshow(together[np.ix_(order, order)], cmap="Blues", vmin=0, vmax=1)
fig.colorbar(image, ax=left, label="share of draws in a community together")
plot_adjacency(model, right, predicted=True)

# %%
# Probabilities are averages over all draws, so they know about the doubt. The club later split around members 0 and
# 33; who might have had a link across?

for a, b, probability in model.top_links(5):
    print(a, b, f"{probability:.2f}")
