"""Screened lasso: the unscreened solution is the twin; regions are sampled; files larger than memory."""

import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.features.errors import DataError, ParameterError
from annealed.models.selection import ScreenedLasso
from annealed.models.selection.dictionary import Dictionary
from annealed.models.selection.screening import RULES
from annealed.models.selection.screening_rules import Dome, feedback

SAFE = ("dass", "dome", "sphere", "sequential-dome")


def problem(seed, n=40, m=150):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) + 0.7 * rng.standard_normal((n, 1))
    y = X[:, :5] @ rng.standard_normal(5) + 0.3 * rng.standard_normal(n)
    return X, y


def twin(X, y, ratio, normed=True):
    """Solve on all features with scikit-learn alone; return the strength and the coefficients."""
    D = X - X.mean(axis=0)
    scale = np.linalg.norm(D, axis=0) if normed else np.ones(X.shape[1])
    D, z = D / scale, y - y.mean()
    strength = ratio * np.abs(D.T @ z).max()
    model = Lasso(alpha=strength / len(y), fit_intercept=False, tol=1e-12, max_iter=200_000).fit(D, z)
    return strength, model.coef_ / scale


@parametrize_with_checks([ScreenedLasso()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ratio", [0.9, 0.5, 0.1, 0.02])
def test_solution_is_that_of_all_features(rule, ratio):
    X, y = problem(1)
    strength, coef = twin(X, y, ratio)
    model = ScreenedLasso(ratio=ratio, rule=rule, tol=1e-12, max_iter=200_000).fit(X, y)
    assert model.strength_ == pytest.approx(strength)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)
    assert model.trace_.strength[-1] == model.strength_


@pytest.mark.parametrize("rule", SAFE)
@pytest.mark.parametrize("standardize", [True, False])
def test_safe_rules_keep_every_active_feature(rule, standardize):
    for seed in range(5):
        X, y = problem(seed)
        X *= np.linspace(0.5, 2, X.shape[1])
        for ratio in (0.8, 0.3, 0.05):
            _, coef = twin(X, y, ratio, standardize)
            # a solver this coarse must not cost a feature either
            for tol in (1e-10, 1e-2):
                model = ScreenedLasso(
                    ratio=ratio, rule=rule, standardize=standardize, tol=tol, max_iter=200_000
                ).fit(X, y)
                assert model.trace_.violations == [0] * len(model.trace_)
                if tol < 1e-4:
                    needed = np.abs(coef) > 1e-5 * np.abs(coef).max()
                    assert set(np.flatnonzero(needed)) <= set(np.flatnonzero(model.coef_))


def test_strong_rule_is_repaired_where_it_errs(monkeypatch):
    # its errors are rare: let it discard every feature
    monkeypatch.setattr(
        "annealed.models.selection.screening.strong_bound", lambda products, *_: np.zeros_like(products)
    )
    X, y = problem(1)
    _, coef = twin(X, y, 0.1)
    model = ScreenedLasso(ratio=0.1, rule="strong", tol=1e-12, max_iter=200_000).fit(X, y)
    assert sum(model.trace_.violations) >= np.count_nonzero(coef)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)


def test_dome_bound_is_the_maximum_over_sampled_points(rng):
    for height in (-0.9, -0.2, 0.0, 0.4, 0.95):
        center, normal = rng.standard_normal(3), np.array([0.0, 0.0, 1.0])
        radius = 1.3
        dome = Dome(radius, height)
        offset = normal @ center - height * radius
        points = rng.standard_normal((200_000, 3))
        points = center + radius * points / np.linalg.norm(points, axis=1, keepdims=True)
        # the flat side's rim holds the maxima that the sphere's surface does not
        angle = np.linspace(0, 2 * np.pi, 2000)
        rim = center - height * radius * normal
        rim = rim + radius * np.sqrt(1 - height**2) * np.c_[np.cos(angle), np.sin(angle), 0 * angle]
        inside = np.vstack([points[points @ normal <= offset], rim])
        features = rng.standard_normal((30, 3))
        bound = dome.bound(features @ center, features @ normal, np.linalg.norm(features, axis=1))
        sampled = np.abs(features @ inside.T).max(axis=1)
        assert (sampled <= bound + 1e-12).all()
        np.testing.assert_allclose(sampled, bound, rtol=2e-2)
        width = np.linalg.norm(inside[::50, None] - inside[None, ::50], axis=2).max()
        assert width <= dome.diameter + 1e-12
        assert width >= 0.97 * dome.diameter


def test_feedback_bounds_diameter_and_number_of_steps():
    for seed in range(5):
        X, y = problem(seed)
        for diameter in (0.1, 0.5, 2.0):
            model = ScreenedLasso(ratio=0.05, diameter=diameter, tol=1e-12, max_iter=200_000).fit(X, y)
            assert max(model.trace_.diameter) <= diameter * (1 + 1e-3)
            length = np.linalg.norm(y - y.mean())
            most = 2 * length * (1 / model.strength_ - 1 / model.strength_max_) / diameter
            assert len(model.trace_) <= np.ceil(most)


def test_smaller_diameter_rejects_more_in_more_steps():
    X, y = problem(3)
    fits = [ScreenedLasso(ratio=0.1, diameter=d).fit(X, y) for d in (1.0, 0.3, 0.1)]
    steps = [len(fit.trace_) for fit in fits]
    assert steps == sorted(steps)
    # in between, the last step is as short as what is left of the way
    assert fits[0].trace_.rejection(X.shape[1]) <= fits[-1].trace_.rejection(X.shape[1])


def test_feedback_goes_straight_to_the_target_when_y_is_aligned():
    y = np.array([2.0, 0.0])
    assert feedback(y, y / 2, before=2.0, target=0.1, diameter=0.01) == 0.1


def test_k_features_are_kept():
    X, y = problem(2)
    for k in (1, 4, 12):
        assert ScreenedLasso(k, ratio=1e-3).fit(X, y).support_.sum() == k


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rule", ["dass", "strong", "sequential-dome", "edpp"])
def test_memmap_stays_within_its_memory_and_gives_the_same_solution(tmp_path, rng, order, rule):
    n, m = 60, 30_000
    X = rng.standard_normal((n, m))
    y = X[:, :3] @ [3.0, -2.0, 1.0]
    expected = ScreenedLasso(ratio=0.4, rule=rule).fit(X, y)
    stored = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(n, m), order=order)
    stored[:] = X
    stored.flush()
    bytes_of_file = X.nbytes
    del X
    read = np.memmap(tmp_path / "X", dtype=np.float64, mode="r", shape=(n, m), order=order)
    memory = 4 << 20
    tracemalloc.start()
    model = ScreenedLasso(ratio=0.4, rule=rule, memory_bytes=memory).fit(read, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-8)
    # vectors of one number a feature (240 kB each) come on top of the dictionary's share
    assert peak < memory + 24 * 8 * m < bytes_of_file


def test_dictionary_in_segments_is_the_explicit_matrix(rng):
    X = rng.standard_normal((7, 50)) + 5
    X[:, 3] = 2.0
    v = rng.standard_normal(7)
    centred = X - X.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    norms[3] = 1
    for stored in (X, np.asfortranarray(X)):
        dictionary = Dictionary(stored, memory_bytes=3200, center=True, scale=True)
        np.testing.assert_allclose(dictionary.correlate(v), (centred / norms).T @ v, atol=1e-12)
        some = np.array([0, 3, 9, 20])
        np.testing.assert_allclose(dictionary.columns(some), (centred / norms)[:, some], atol=1e-12)
        assert dictionary.norms[3] == 0
        with pytest.raises(DataError, match="survive the screening and need"):
            dictionary.columns(np.arange(50))


def test_constant_target_selects_nothing(rng):
    model = ScreenedLasso().fit(rng.standard_normal((20, 5)), np.full(20, 3.0))
    assert not model.support_.any()
    assert model.intercept_ == 3.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k must be an integer of at least 1, got 0"),
        ({"rule": "guess"}, "rule must be one of"),
        ({"solver": "guess"}, "solver must be one of"),
        ({"ratio": 0}, "ratio must be in"),
        ({"diameter": -1.0}, "diameter must be positive"),
        ({"n_steps": 0}, "n_steps must be an integer"),
        ({"memory_bytes": 10}, "memory_bytes is 10"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        ScreenedLasso(**parameters).fit(*problem(0))
