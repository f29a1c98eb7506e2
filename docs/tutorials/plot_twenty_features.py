"""
Twenty features of a table
==========================

A table with some hundred columns of which twenty matter. Selection and training are one run, and
the model on what is left is a scikit-learn estimator like any other.
"""

# %%
# The table
# ---------
# Columns are correlated, and a tenth of the labels are random.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from annealed import FSAClassifier
from annealed.datasets import make_correlated_classification

X, y, relevant = make_correlated_classification(2000, 400, 20, label_noise=0.1, random_state=0)
train, test = slice(0, 1500), slice(1500, None)

# %%
# Selecting and training
# ----------------------
model = FSAClassifier(k=20, random_state=0).fit(X[train], y[train])
chosen = model.get_support(indices=True)
print(relevant[chosen].sum(), "of the 20 columns that matter are among the 20 selected")
print("accuracy on new rows:", round(model.score(X[test], y[test]), 3))
every = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X[train], y[train])
print("logistic regression on all 400 columns:", round(every.score(X[test], y[test]), 3))

# %%
# What happens on the way
# -----------------------
# All columns take part at first; most leave within a few iterations, when their weights have shown to
# stay small.
trace = model.trace_
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.semilogy(trace.features_kept)
axis.set(xlabel="iteration", ylabel="columns left")
axis.grid(color="0.9")

# %%
# How many to keep
# ----------------
# `FSAClassifierCV` follows one run a fold down through all sizes.
from annealed import FSAClassifierCV

search = FSAClassifierCV(k=[5, 10, 20, 40], cv=3, random_state=0).fit(X[train], y[train])
print("k chosen by cross-validation:", search.k_)
print("columns that matter, of those chosen:", relevant[search.get_support()].sum(), "of", search.k_)
print(np.round(search.score(X[test], y[test]), 3), "correct on new rows")
