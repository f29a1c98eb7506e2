"""A planted dictionary is found again; codes meet the lasso's conditions and agree with FISTA."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.features.errors import ParameterError
from annealed.models.selection import SparseCoding
from annealed.models.selection.proximal import Lasso, minimize


@parametrize_with_checks([SparseCoding(2, max_iter=5)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def planted():
    """Each of 80 samples is near a multiple of one of five atoms: samples, atoms, and what was learned."""
    rng = np.random.default_rng(0)
    atoms = np.linalg.qr(rng.standard_normal((10, 5)))[0].T
    size = rng.choice([-1, 1], 80) * rng.uniform(2, 4, 80)
    X = size[:, None] * atoms[rng.integers(0, 5, 80)] + 0.1 * rng.standard_normal((80, 10))
    return X, atoms, SparseCoding(5, strength=0.5, max_iter=20).fit(X)


def test_planted_atoms_are_found(planted):
    _, atoms, coding = planted
    np.testing.assert_allclose(np.linalg.norm(coding.dictionary_, axis=1), 1)
    overlap = np.abs(atoms @ coding.dictionary_.T)
    assert (overlap.max(axis=1) > 0.95).all()
    assert len(set(overlap.argmax(axis=1))) == 5


def test_codes_meet_the_optimality_conditions(planted):
    X, _, coding = planted
    codes = coding.transform(X[:50])
    residual = X[:50] - coding.inverse_transform(codes)
    gradient = -residual @ coding.dictionary_.T
    used = codes != 0
    np.testing.assert_allclose(gradient[used], -0.5 * np.sign(codes[used]), atol=1e-4)
    assert np.abs(gradient[~used]).max() <= 0.5 + 1e-6
    assert used.sum(axis=1).mean() < 3


def test_codes_agree_with_fista(planted):
    X, _, coding = planted
    problem = Lasso(coding.dictionary_.T, (X[:20] - coding.mean_).T, 0.5)
    found = minimize(problem, np.zeros((5, 20)), step=1.0, tol=1e-15, max_iter=5000)
    np.testing.assert_allclose(coding.transform(X[:20]), found.x.T, atol=1e-5)


def test_more_strength_gives_fewer_atoms_a_sample(planted):
    X, _, coding = planted
    weak = clone(coding).set_params(strength=0.01, max_iter=5).fit(X)
    assert np.count_nonzero(coding.transform(X)) < np.count_nonzero(weak.transform(X))


def test_constant_samples_have_empty_codes():
    coding = SparseCoding(2).fit(np.ones((5, 3)))
    assert not coding.transform(np.ones((2, 3))).any()


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_atoms": 0}, "n_atoms must be an integer of at least 1"),
        ({"max_iter": 1.5}, "max_iter must be an integer"),
        ({"strength": 0}, "strength must be positive"),
        ({"strength": np.inf}, "strength must be positive"),
    ],
)
def test_bad_parameters(rng, parameters, match):
    with pytest.raises(ParameterError, match=match):
        SparseCoding(**parameters).fit(rng.standard_normal((5, 3)))


def test_bad_data(rng):
    with pytest.raises(ValueError, match="NaN"):
        SparseCoding(2).fit(np.full((5, 3), np.nan))
