import numpy as np
import pytest

from annealed.features.errors import DataError, ParameterError
from annealed.models.keypoints import nms
from annealed.models.keypoints.nms import Suppression, suppress

PEAKS_ONLY = Suppression(refine_radius=0.0)


def run(windows, rule=PEAKS_ONLY):
    columns = np.array(windows, dtype=np.float64).reshape(-1, 4).T
    return np.stack(suppress(*columns, 24, rule), axis=1)


def naive_suppress(windows, rule):
    """Greedy suppression written as the docstring says it."""
    kept = []
    for window in sorted(windows, key=lambda w: -w[3]):
        x, y, scale, _ = window
        if all(
            np.hypot(x - u, y - v) >= 24 * rule.radius * s or abs(np.log2(scale / s)) > rule.octaves + 1e-9
            for u, v, s, _ in kept
        ):
            kept.append(window)
    return np.array(kept)


def test_suppress_keeps_the_best_of_a_neighbourhood():
    # radius 0.25 of 24 px = 6 px at scale 1
    found = run([(10, 10, 1, 0.3), (15.9, 10, 1, 0.9), (21.8, 10, 1, 0.5), (22, 10, 1, 0.4)])
    np.testing.assert_allclose(found, [(15.9, 10, 1, 0.9), (22, 10, 1, 0.4)])


def test_suppress_reaches_as_far_as_the_better_window_is_large():
    far = [(10, 10, 4, 0.9), (30, 10, 4, 0.8)]
    assert len(run(far)) == 1
    assert len(run([(x, y, 1, s) for x, y, _, s in far])) == 2


@pytest.mark.parametrize(("scale", "n_kept"), [(2.0, 1), (0.5, 1), (2.2, 2), (0.45, 2)])
def test_suppress_only_within_an_octave(scale, n_kept):
    assert len(run([(10, 10, 1, 0.9), (10, 10, scale, 0.8)])) == n_kept


def test_suppress_breaks_ties_by_order():
    np.testing.assert_allclose(run([(10, 10, 1, 0.5), (12, 10, 1, 0.5)]), [(10, 10, 1, 0.5)])


def test_suppress_nothing():
    assert run([]).shape == (0, 4)


@pytest.mark.parametrize("seed", range(3))
def test_suppress_agrees_with_a_naive_twin(seed):
    rng = np.random.default_rng(seed)
    n = 200
    windows = np.column_stack(
        [rng.uniform(0, 80, (n, 2)), 2.0 ** (rng.integers(0, 8, n) / 4), np.round(rng.normal(size=n), 1)]
    )
    np.testing.assert_allclose(run(windows), naive_suppress(windows.tolist(), PEAKS_ONLY))


def test_refine_is_the_weighted_mean_of_near_windows():
    rule = Suppression(sharpness=5.0)
    # 0.12 of 24 px = 2.88 px: the second window is near, the third is only suppressed
    found = run([(10, 10, 1, 0.9), (12, 10, 2**0.25, 0.7), (14, 10, 1, 0.8)], rule)
    w = np.exp(-5 * 0.2)
    np.testing.assert_allclose(found, [((10 + 12 * w) / (1 + w), 10, 2 ** (0.25 * w / (1 + w)), 0.9)])


def test_refine_leaves_a_lonely_window_where_it_is():
    np.testing.assert_allclose(run([(10, 10, 2, 0.9)], Suppression()), [(10, 10, 2, 0.9)])


@pytest.mark.parametrize("name", ["radius", "octaves", "sharpness"])
def test_suppression_refuses_what_is_no_distance(name):
    with pytest.raises(ParameterError, match=f"{name} must be a finite number of at least 0"):
        Suppression(**{name: -1.0})


def test_more_windows_than_can_be_joined_are_refused(monkeypatch):
    monkeypatch.setattr(nms, "MAX_COMPARISONS", 9_000)
    x = np.arange(100.0)
    same = np.ones(100)
    apart = Suppression(radius=0.0)
    with pytest.raises(DataError, match=r"too many of 100 windows .* raise the threshold"):
        suppress(x, x, same, same, 24, apart)
    assert len(suppress(x[:90], x[:90], same[:90], same[:90], 24, apart)[0]) == 90
