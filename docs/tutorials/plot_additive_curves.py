"""
Additive curves beside a boosted machine
========================================

With ``response="piecewise"`` every selected column adds what a curve says for its value: a model
that can be drawn. Beside it a machine of boosted trees, which cannot.
"""

# %%
# A quantity that five of fifty columns decide, each in its own way
# ------------------------------------------------------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from annealed import FSARegressor
from annealed.models import plot_responses

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (3000, 50))
curves = [np.sin(3 * X[:, 0]), np.abs(X[:, 1]), X[:, 2] ** 3, np.maximum(X[:, 3], 0), -X[:, 4]]
y = sum(curves) + 0.2 * rng.normal(size=len(X))
train, test = slice(0, 2000), slice(2000, None)

# %%
# Both models
# -----------
additive = FSARegressor(k=5, response="piecewise", random_state=0).fit(X[train], y[train])
boosted = HistGradientBoostingRegressor(random_state=0).fit(X[train], y[train])
print("columns selected:", additive.get_support(indices=True))
print("additive curves, R2 on new rows:", round(additive.score(X[test], y[test]), 3))
print("boosted trees,   R2 on new rows:", round(boosted.score(X[test], y[test]), 3))

# %%
# What the additive model says
# ----------------------------
# The whole of it: five curves, whose values are added up. Dots are knots.
axes = plot_responses(additive, n_features=5)
for axis in axes:
    axis.set_xlabel("value")

# %%
# A sum of curves cannot say that two columns act together. Where they do, boosted trees are ahead:
y_together = y + X[:, 0] * X[:, 1] * 2
additive.fit(X[train], y_together[train])
boosted.fit(X[train], y_together[train])
print("additive curves, R2:", round(additive.score(X[test], y_together[test]), 3))
print("boosted trees,   R2:", round(boosted.score(X[test], y_together[test]), 3))
plt.show()
