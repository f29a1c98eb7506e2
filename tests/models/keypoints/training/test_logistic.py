import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from annealed.models.keypoints.training.logistic import fit_logistic


def test_weights_of_evidence_are_those_of_a_logistic_regression_with_signs(rng):
    terms = rng.normal(0, [0.5, 1, 2, 3], size=(200, 4))
    labels = (terms @ [1.0, 0.5, -0.5, 0.3] + rng.logistic(size=200) > 0).astype(int)
    intercept, weights = fit_logistic(terms, labels, np.zeros(4))
    scale = terms.std(axis=0)
    twin = LogisticRegression(C=1.0, tol=1e-8).fit((terms - terms.mean(axis=0)) / scale, labels)
    np.testing.assert_allclose(weights, twin.coef_[0] / scale, atol=1e-4)
    assert intercept == pytest.approx(twin.intercept_[0] - weights @ terms.mean(axis=0), abs=1e-4)
    _, signed = fit_logistic(terms, labels, np.array([1, -1, 1, 0]))
    assert signed[1] == signed[2] == 0
    assert (signed[[0, 3]] > 0).all()
