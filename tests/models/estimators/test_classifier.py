from functools import partial

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss

from annealed.features.errors import DataError, ParameterError
from annealed.models import FSAClassifier
from annealed.models.losses import HuberHinge, Lorenz

SHORT = {"k": 3, "n_iter": 80, "random_state": 0}


@pytest.fixture(name="X")
def make_table(rng):
    return rng.standard_normal((200, 15))


def two_classes(X):
    return (X[:, 2] + X[:, 5] - X[:, 9] > 0).astype(int)


def three_classes(X):
    return np.argmax([X[:, 2], X[:, 5], X[:, 9]], axis=0)


def error(model, X, y):
    return np.mean(model.predict(X) != y)


@pytest.mark.parametrize("loss", ["auto", "lorenz", "logistic", "huber"])
def test_relevant_features_are_found_with_every_loss(loss, X):
    y = two_classes(X)
    model = FSAClassifier(loss=loss, **SHORT).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2, 5, 9]
    assert model.score(X, y) > 0.95


def test_piecewise_responses_find_what_linear_ones_cannot_see(X):
    """|x| is uncorrelated with x."""
    y = (np.abs(X[:, 4]) > 0.7).astype(int)
    model = FSAClassifier(k=1, response="piecewise", n_iter=80).fit(X, y)
    assert model.get_support(indices=True).tolist() == [4]
    assert model.score(X, y) > 0.9
    assert FSAClassifier(k=1, n_iter=80).fit(X, y).score(X, y) < 0.75


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [7, 2], [False, True]])
def test_labels_of_any_kind(labels, X):
    labels = np.array(labels)
    y = labels[two_classes(X)]
    model = FSAClassifier(**SHORT).fit(X, y)
    assert model.classes_.tolist() == sorted(labels.tolist())
    assert model.score(X, y) > 0.95
    # A positive score means the second class.
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == model.classes_[1])


@pytest.mark.parametrize("response", ["linear", "piecewise"])
def test_classes_share_their_features(response, X):
    y = three_classes(X)
    model = FSAClassifier(response=response, **SHORT).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2, 5, 9]
    decision = model.decision_function(X)
    assert decision.shape == (200, 3)
    assert model.intercept_.shape == (3,)
    np.testing.assert_array_equal(model.predict(X), model.classes_[decision.argmax(axis=1)])
    assert model.score(X, y) > 0.85
    if response == "linear":
        assert model.coef_.shape == (3, 15)
        np.testing.assert_allclose(decision, X @ model.coef_.T + model.intercept_)
    else:
        assert model.knot_values_.shape == (3, 3, 21)


def test_probability_is_the_logistic_function_of_the_score(X):
    y = two_classes(X)
    model = FSAClassifier(loss="logistic", **SHORT).fit(X, y)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability[:, 1], expit(model.decision_function(X)))
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(probability.argmax(axis=1), model.predict(X))


def test_probabilities_of_many_classes_sum_to_one(X):
    model = FSAClassifier(loss="logistic", **SHORT).fit(X, three_classes(X))
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    share = expit(model.decision_function(X))
    np.testing.assert_allclose(probability, share / share.sum(axis=1, keepdims=True))


def test_probabilities_are_calibrated_on_logistic_data(rng):
    """Where the data follow the model, the fitted probability is the true one."""
    X = rng.standard_normal((4000, 6))
    truth = expit(1.5 * X[:, 1] - X[:, 4] + 0.5)
    model = FSAClassifier(k=2, loss="logistic", n_iter=200).fit(X, rng.random(4000) < truth)
    # 4000 samples leave a standard error of about 0.05 on each coefficient.
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], truth, atol=0.06)


@pytest.mark.parametrize("loss", ["lorenz", "huber", "auto", Lorenz, partial(HuberHinge, h=0.3)])
@pytest.mark.parametrize("target", [two_classes, three_classes])
def test_every_loss_gives_probabilities(loss, target, X):
    y = target(X)
    model = FSAClassifier(loss=loss, **SHORT).fit(X, y)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(probability.argmax(axis=1), model.predict(X))
    assert log_loss(y, probability) < 0.5 * log_loss(y, np.tile(np.bincount(y) / len(y), (len(y), 1)))


def test_default_is_one_loss_with_probabilities(X):
    y = two_classes(X)
    model = FSAClassifier(**SHORT)
    assert hasattr(model, "predict_proba")
    model.fit(X, y)
    assert model.loss_ in ("lorenz", "logistic")
    assert len(model.trace_) == model.n_iter_ <= SHORT["n_iter"]
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("loss", ["lorenz", "huber"])
def test_probabilities_of_margin_losses_are_calibrated(rng, loss):
    """Of the new samples that get some probability, that part belongs to the class."""
    X, y = rng.standard_normal((8000, 6)), rng.random(8000)
    y = y < expit(1.5 * X[:, 1] - X[:, 4])
    model = FSAClassifier(k=2, loss=loss, n_iter=200).fit(X[:4000], y[:4000])
    probability = model.predict_proba(X[4000:])[:, 1]
    for part in np.array_split(np.argsort(probability), 8):
        # 500 samples leave a standard error of 0.022.
        assert probability[part].mean() == pytest.approx(y[4000:][part].mean(), abs=0.08)


def test_losses_as_classes_are_those_of_that_name(X):
    y = two_classes(X)
    named, given = (FSAClassifier(loss=loss, **SHORT).fit(X, y) for loss in ("huber", HuberHinge))
    np.testing.assert_array_equal(named.coef_, given.coef_)
    assert (named.loss_, given.loss_) == ("huber", "HuberHinge")
    other = FSAClassifier(loss=partial(HuberHinge, h=0.1), **SHORT).fit(X, y)
    assert not np.array_equal(other.coef_, named.coef_)


@pytest.mark.parametrize("loss", ["lorenz", "logistic", "huber"])
def test_named_losses_are_taken_as_they_are(loss, X):
    assert FSAClassifier(loss=loss, **SHORT).fit(X, two_classes(X)).loss_ == loss


def test_class_weights_are_sample_weights(X):
    y = (X[:, 2] > 1).astype(int)
    rare = y.sum() / len(y)
    weight = np.where(y == 1, 0.5 / rare, 0.5 / (1 - rare))
    for class_weight in ("balanced", {0: 0.5 / (1 - rare), 1: 0.5 / rare}):
        weighted = FSAClassifier(class_weight=class_weight, **SHORT).fit(X, y)
        explicit = FSAClassifier(**SHORT).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(weighted.coef_, explicit.coef_, rtol=1e-9)


def test_class_and_sample_weights_multiply(rng, X):
    y = two_classes(X)
    weight = rng.uniform(0.5, 2, 200)
    both = FSAClassifier(class_weight={0: 3, 1: 1}, **SHORT).fit(X, y, sample_weight=weight)
    explicit = FSAClassifier(**SHORT).fit(X, y, sample_weight=weight * np.where(y == 0, 3, 1))
    np.testing.assert_allclose(both.coef_, explicit.coef_, rtol=1e-9)


@pytest.mark.parametrize("y", [np.zeros(200), np.full(200, "cat")])
def test_one_class_is_refused(X, y):
    with pytest.raises(DataError, match="y must hold at least two classes, got one class: "):
        FSAClassifier(**SHORT).fit(X, y)


def test_one_class_with_weight_is_refused(X):
    y = two_classes(X)
    with pytest.raises(DataError, match="y must hold at least two classes, got one class: "):
        FSAClassifier(**SHORT).fit(X, y, sample_weight=y)


def test_one_sample_is_refused(X):
    with pytest.raises(DataError, match="y must hold at least two classes"):
        FSAClassifier(**SHORT).fit(X[:1], [1])


@pytest.mark.parametrize("loss", ["hinge", None, [], 3])
def test_unknown_losses_are_refused(loss, X):
    with pytest.raises(ParameterError, match="The 'loss' parameter of FSAClassifier must be a str among"):
        FSAClassifier(loss=loss, **SHORT).fit(X, two_classes(X))


def test_continuous_targets_are_refused(X):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        FSAClassifier(**SHORT).fit(X, X[:, 0])


def test_two_samples_are_enough():
    model = FSAClassifier(k=1).fit([[0.0, 1.0], [0.0, 3.0]], ["low", "high"])
    assert model.support_.tolist() == [False, True]
    assert model.predict([[0, 0], [9, 5]]).tolist() == ["low", "high"]
