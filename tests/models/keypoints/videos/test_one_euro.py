import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.keypoints.videos.one_euro import OneEuroFilter


def test_a_still_point_jitters_less(rng):
    noisy = 50 + rng.normal(0, 1, (300, 1, 2))
    one = OneEuroFilter(beta=0.0)
    filtered = np.array([one(points, t / 30) for t, points in enumerate(noisy)])
    assert filtered[30:].std() < 0.5 * noisy[30:].std()


def test_a_fast_point_does_not_lag():
    xs = np.arange(90) * 10.0  # 300 px a second
    fast, calm = OneEuroFilter(beta=0.05), OneEuroFilter(beta=0.0)
    filtered = [fast(np.array([x]), t / 30)[0] for t, x in enumerate(xs)]
    lagging = [calm(np.array([x]), t / 30)[0] for t, x in enumerate(xs)]
    assert abs(filtered[-1] - xs[-1]) < 5
    assert abs(lagging[-1] - xs[-1]) > 20


def test_formula_of_the_paper():
    one = OneEuroFilter(min_cutoff=2.0, beta=0.1, speed_cutoff=1.0)
    assert one(np.array([1.0]), 0.0)[0] == 1.0
    dt, x = 0.1, 3.0
    speed = (x - 1.0) / dt / (1 + 1 / (2 * np.pi * 1.0) / dt)
    weight = 1 / (1 + 1 / (2 * np.pi * (2.0 + 0.1 * abs(speed))) / dt)
    assert one(np.array([x]), dt)[0] == pytest.approx(weight * x + (1 - weight) * 1.0)


def test_a_point_that_comes_back_begins_anew():
    one = OneEuroFilter()
    one(np.array([1.0, 1.0]), 0.0)
    lost = one(np.array([np.nan, 1.0]), 0.1)
    assert np.isnan(lost[0])
    assert lost[1] == pytest.approx(1.0)
    assert one(np.array([80.0, 1.0]), 0.2)[0] == 80.0


def test_time_that_stands_still_changes_nothing():
    one = OneEuroFilter()
    one(np.array([1.0]), 0.0)
    assert one(np.array([9.0]), 0.0)[0] == 1.0


@pytest.mark.parametrize("wrong", [{"min_cutoff": 0}, {"beta": -1}, {"speed_cutoff": np.nan}])
def test_bad_parameters(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        OneEuroFilter(**wrong)
