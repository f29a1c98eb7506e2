"""The loss of a default classifier follows what the training samples show."""

import numpy as np
import pytest
from scipy import sparse

from annealed.models import FSAClassifier
from annealed.models.estimators.adaptive import STRONG_SIGNALS, adapt
from annealed.models.penalties import FadingRidge


def table(rng, situation, n=300, n_features=200):
    """Columns, and labels with strong signals, weak signals, or of classes that lie apart."""
    X = rng.standard_normal((n, n_features))
    if situation == "apart":
        y = rng.random(n) < 0.5
        X[:, : n_features // 2] += 3 * y[:, None]
        return X, y.astype(int)
    signal = X[:, :10].sum(axis=1)
    noise = {"strong": 0.0, "weak": 10.0}[situation] * rng.standard_normal(n)
    return X, (signal + noise > 0).astype(int)


@pytest.mark.parametrize(
    ("situation", "loss"), [("strong", "lorenz"), ("weak", "logistic"), ("apart", "logistic")]
)
def test_loss_follows_the_situation(rng, situation, loss):
    X, y = table(rng, situation)
    adapted = adapt(X, np.where(y, 1.0, -1.0)[None])
    assert adapted.loss == loss
    assert (adapted == STRONG_SIGNALS) == (loss == "lorenz")
    assert isinstance(adapted.penalty, FadingRidge) == (loss == "logistic")
    model = FSAClassifier(k=5, n_iter=60).fit(X, y)
    options = {} if loss == "lorenz" else {"batch_size": None, "penalty": adapted.penalty}
    by_name = FSAClassifier(k=5, loss=loss, n_iter=60, **options).fit(X, y)
    np.testing.assert_array_equal(model.coef_, by_name.coef_)
    assert model.loss_ == loss


def test_what_is_stated_is_taken(rng):
    X, y = table(rng, "weak")
    stated = {"batch_size": 100, "penalty": None}
    model = FSAClassifier(k=5, n_iter=60, **stated).fit(X, y)
    by_name = FSAClassifier(k=5, loss="logistic", n_iter=60, **stated).fit(X, y)
    np.testing.assert_array_equal(model.coef_, by_name.coef_)


def test_sparse_tables_and_many_classes_adapt_too(rng):
    X, y = table(rng, "weak")
    X[np.abs(X) < 1] = 0
    assert FSAClassifier(k=5, n_iter=60).fit(sparse.csr_array(X), y + 2 * (X[:, 0] > 1)).loss_ == "logistic"


def test_piecewise_responses_keep_to_lorenz(rng):
    X, y = table(rng, "weak")
    assert FSAClassifier(k=5, response="piecewise", n_iter=40).fit(X, y).loss_ == "lorenz"
