"""The loss of a default classifier follows what the training samples show."""

import numpy as np
import pytest
from scipy import sparse

from annealed.datasets import make_correlated_classification
from annealed.models import FSAClassifier, Piecewise
from annealed.models.estimators.adaptive import DOUBTFUL_ERROR, adapt_to_labels, adapt_to_quantities


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


@pytest.mark.parametrize(("situation", "strong"), [("strong", True), ("weak", False), ("apart", False)])
def test_loss_follows_the_situation(rng, situation, strong):
    X, y = table(rng, situation)
    adapted = adapt_to_labels(X, np.where(y, 1.0, -1.0)[None], (10,))
    assert adapted.are_strong == strong
    model = FSAClassifier(k=10, n_iter=60).fit(X, y)
    assert model.loss_ == "logistic" or strong
    options = {} if strong else {"batch_size": None, "penalty": adapted.ridge}
    by_name = FSAClassifier(k=10, loss=model.loss_, n_iter=60, **options).fit(X, y)
    np.testing.assert_array_equal(model.coef_, by_name.coef_)


def test_signals_are_weak_where_the_lorenz_model_errs_often(rng):
    """A few hundred labels may seem to be explained by chance."""
    X = rng.standard_normal((60, 400))
    tried = {}
    for seed in range(20):
        y = np.random.default_rng(seed).permutation(np.arange(60) % 2)
        if adapt_to_labels(X, np.where(y, 1.0, -1.0)[None], (1,)).are_strong:
            tried[seed] = FSAClassifier(k=1, n_iter=60).fit(X, y).loss_
    assert tried
    assert set(tried.values()) == {"logistic"}


def test_of_two_losses_for_strong_signals_the_one_with_fewer_training_errors_stays():
    taken = set()
    for seed in range(6):
        X, y, _ = make_correlated_classification(150, 60, 5, random_state=seed)
        models = {
            loss: FSAClassifier(k=5, loss=loss, n_iter=60).fit(X, y)
            for loss in ("auto", "lorenz", "logistic")
        }
        errors = {loss: np.mean(model.predict(X) != y) for loss, model in models.items()}
        if errors["lorenz"] > DOUBTFUL_ERROR:
            continue
        best = min(("lorenz", "logistic"), key=errors.__getitem__)
        assert models["auto"].loss_ == best
        np.testing.assert_array_equal(models["auto"].coef_, models[best].coef_)
        taken.add(best)
    assert taken == {"lorenz", "logistic"}


def test_the_ridge_of_quantities_follows_the_noise(rng):
    X = rng.standard_normal((300, 100))
    signal = X[:, :5].sum(axis=1)
    clear, doubtful = (
        adapt_to_quantities(X, (signal + noise * rng.standard_normal(300))[None], (5,)) for noise in (0.1, 10)
    )
    assert clear.strength < doubtful.strength
    assert (clear.n_rows, clear.sizes, clear.at_size(5)) == (300, (5,), 0.0)


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


def test_piecewise_responses_do_not_adapt(rng):
    """Curves between quantiles find their smoothing by the likelihood, the others keep to Lorenz."""
    X, y = table(rng, "weak")
    assert FSAClassifier(k=5, response="piecewise", n_iter=40).fit(X, y).loss_ == "logistic"
    spaced = Piecewise(ranges="trimmed")
    assert FSAClassifier(k=5, response=spaced, n_iter=40).fit(X, y).loss_ == "lorenz"
