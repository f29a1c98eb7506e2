import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from annealed.models.estimators.calibration import LOG_ODDS, SURE, fit_ramp, probabilities


def draw(rng, slopes, n=20_000):
    """Responses, and targets whose log odds are a ramp of them."""
    f = rng.standard_normal(n)
    return f[None], np.where(rng.random(n) < expit(f * np.where(f < 0, *slopes)), 1.0, -1.0)[None]


@pytest.mark.parametrize("slopes", [(1, 1), (0.5, 3), (4, 1)])
@pytest.mark.parametrize("unit", [1e-6, 1, 1e6])
def test_the_ramp_is_found_and_not_too_steep(rng, slopes, unit):
    """Targets of 0.97 make steep slopes less steep."""
    response, target = draw(rng, slopes)
    ramp = fit_ramp(response * unit, target, np.ones(response.shape[1]))
    share = ramp[:2] * unit / slopes
    assert ((share > 0.7) & (share < 1.1)).all()
    assert ramp[2] == 0


def test_the_ramp_is_the_most_likely_one(rng):
    """scikit-learn's logistic regression on both sides of zero is the twin."""
    response, target = draw(rng, (0.5, 2))
    weight = rng.uniform(0.5, 2, response.shape[1])
    sides = np.stack([np.minimum(response[0], 0), np.maximum(response[0], 0)], axis=1)
    twin = LogisticRegression(C=1e8, fit_intercept=False, tol=1e-10)
    # A target of 0.97 is the one class with this weight, and the other with the rest.
    both = np.concatenate([SURE * weight, (1 - SURE) * weight])
    twin.fit(np.tile(sides, (2, 1)), np.concatenate([target[0], -target[0]]), sample_weight=both)
    np.testing.assert_allclose(fit_ramp(response, target, weight)[:2], twin.coef_[0], rtol=2e-3)


@pytest.mark.parametrize("n_outputs", [1, 4])
def test_separated_classes_do_not_give_certainty(n_outputs):
    code = np.arange(80) % 4
    target = np.where(code == np.arange(4)[:, None], 1.0, -1.0)[:n_outputs]
    ramp = fit_ramp(target * 1.5, target, np.ones(80))
    probability = probabilities(target.T * 1.5, ramp)
    assert 0.9 < probability.max() < 0.98
    np.testing.assert_allclose(probability.sum(axis=1), 1)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_what_is_likeliest_is_what_responds_most(rng, n_outputs):
    """Even of responses that say the opposite of the truth, or nothing."""
    response = rng.standard_normal((n_outputs, 200))
    for target in (np.sign(response), -np.sign(response), np.sign(rng.standard_normal(response.shape))):
        probability = probabilities(response.T, fit_ramp(response, target, np.ones(200)))
        expected = response[0] > 0 if n_outputs == 1 else response.argmax(axis=0)
        np.testing.assert_array_equal(probability.argmax(axis=1), expected)


def test_constant_responses_give_a_ramp():
    target = np.ones((1, 6))
    target[0, :2] = -1
    assert np.isfinite(probabilities(np.zeros((6, 1)), fit_ramp(np.zeros((1, 6)), target, np.ones(6)))).all()


def test_log_odds_are_taken_as_they_are(rng):
    f = rng.standard_normal((9, 1)) * 5
    np.testing.assert_allclose(probabilities(f, LOG_ODDS)[:, 1], expit(f[:, 0]))
    f = rng.standard_normal((9, 3)) * 5
    np.testing.assert_allclose(
        probabilities(f, LOG_ODDS), expit(f) / expit(f).sum(axis=1, keepdims=True), rtol=1e-12
    )


@pytest.mark.parametrize("f", [-1e5, 1e5])
def test_extreme_responses_give_probabilities(f):
    for n_outputs in (1, 3):
        probability = probabilities(np.full((1, n_outputs), f), LOG_ODDS)
        np.testing.assert_allclose(probability.sum(), 1)
