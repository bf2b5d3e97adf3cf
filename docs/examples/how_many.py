"""
How many communities?
=====================

Nobody has to say. A community stays while the score is lower with it than without. It raises the score by two prices:
``penalty``, and minus the log prior of its members and affinities. The default penalty is 0, so the prior
decides alone. A higher one gives fewer and larger communities.
"""

import matplotlib.pyplot as plt

import klafter as kl
from klafter.datasets import load_les_miserables, make_lfrm
from klafter.evaluation import average_f1
from klafter.report import plot_history, plot_path

graph, truth = make_lfrm(n=60, k=3, random_state=0)
for penalty in (0.0, 20.0, 200.0):
    model = kl.KLafter(penalty=penalty, n_init=1, n_smooth=0, random_state=0).fit(graph)
    agreement = average_f1(model.memberships_, truth.memberships)
    print(f"penalty {penalty:5}: {model.n_communities_} communities, average F1 with the planted ones {agreement:.2f}")

# %%
# Three communities were planted. A real network has no such number behind it.
# There, hidden links can judge: ``KLafterCV`` fits each penalty to a part of the pairs and keeps the one that predicts
# the others best.

novel = load_les_miserables()
penalties = [0.0, 5.0, 15.0, 40.0]
for penalty in penalties:
    model = kl.KLafter(penalty=penalty, n_init=2, n_smooth=0, random_state=0).fit(novel)
    print(f"penalty {penalty:5}: {model.n_communities_} communities of {[len(c) for c in model.communities()]}")

quick = kl.KLafter(n_init=1, n_smooth=0)
search = kl.KLafterCV(penalties, cv=3, eliminate=False, estimator=quick, random_state=0).fit(novel)
print("best:", search.best_params_, "with", search.n_communities_, "communities")

# %%
# On the left, how well each penalty predicted, with standard errors. Where the errors overlap, the data do not insist
# on a number, and the larger penalty tells the simpler story. On the right, the number of communities along four
# restarts: restarts that end at different numbers are the other sign of that.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
plot_path(search, left)
plot_history(kl.KLafter(n_init=4, n_smooth=0, random_state=0).fit(novel), right, quantity="n_communities")
