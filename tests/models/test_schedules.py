import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.schedules import InverseSchedule

TABLE_1 = {0: 125, 1: 97, 10: 41, 100: 10, 300: 5, 1000: 2}  # mu: c, in c M N + k N n_iter


def naive_features_kept(n_features, k, n_iter, mu):
    """Equation (3), one iteration at a time, rounded down."""
    k = min(k, n_features)
    kept = []
    for e in range(1, n_iter + 1):
        share = max(0, (n_iter - 2 * e) / (2 * e * mu + n_iter))
        kept.append(k + int((n_features - k) * share))
    kept[-1] = k
    return kept


@pytest.mark.parametrize("mu", TABLE_1)
def test_cost_agrees_with_table_1(mu):
    n_features = 1_000_000
    cost = InverseSchedule(k=1, n_iter=500, mu=mu).cost(n_features)
    assert round((cost - 500) / n_features) == TABLE_1[mu]


@pytest.mark.parametrize("mu", TABLE_1)
def test_cost_grows_by_n_iter_per_survivor(mu):
    """The second term of Table 1; its first term runs over the M - k features that leave."""
    few = InverseSchedule(k=1, n_iter=500, mu=mu).cost(1_000_000)
    more = InverseSchedule(k=21, n_iter=500, mu=mu).cost(1_000_000)
    # Each of the 500 sizes is rounded down to a whole feature, 250 of them in the first half.
    assert more - few == pytest.approx(20 * (500 - few / 1_000_000), abs=250)


def test_cost_counts_the_first_pass_over_all_features():
    # Iterations visit 12, 10, 8, 6, 4 and then five times 2 features.
    assert InverseSchedule(k=2, n_iter=10, mu=0).cost(12) == 12 + 10 + 8 + 6 + 4 + 5 * 2


@pytest.mark.parametrize("n_features", [1, 2, 7, 1000])
@pytest.mark.parametrize("k", [1, 3, 7, 2000])
@pytest.mark.parametrize("n_iter", [1, 2, 3, 500])
@pytest.mark.parametrize("mu", [0, 0.5, 300, 1e9])
def test_schedule_never_increases_and_ends_at_k(n_features, k, n_iter, mu):
    kept = InverseSchedule(k, n_iter, mu).features_kept(n_features)
    assert kept.shape == (n_iter,)
    assert kept.dtype == np.int64
    assert kept[0] <= n_features
    assert (np.diff(kept) <= 0).all()
    assert (kept >= min(k, n_features)).all()
    assert kept[-1] == min(k, n_features)
    assert kept.tolist() == naive_features_kept(n_features, k, n_iter, mu)


def test_second_half_trains_the_survivors():
    kept = InverseSchedule(k=10, n_iter=500, mu=300).features_kept(1000)
    assert (kept[249:] == 10).all()
    assert kept[100] > 10


def test_larger_mu_never_keeps_more():
    slow = InverseSchedule(k=10, mu=10).features_kept(1000)
    fast = InverseSchedule(k=10, mu=300).features_kept(1000)
    assert (fast <= slow).all()


def test_without_annealing_rate_features_leave_linearly():
    assert InverseSchedule(k=2, n_iter=10, mu=0).features_kept(12).tolist() == [10, 8, 6, 4] + 6 * [2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be an integer of at least 1, got 0"),
        ({"k": 1, "n_iter": 0}, "n_iter must be an integer of at least 1, got 0"),
        ({"k": 1, "mu": -1.0}, "mu must be a finite number of at least 0, got -1.0"),
        ({"k": 1, "mu": np.nan}, "mu must be a finite number of at least 0, got nan"),
        ({"k": 1, "mu": np.inf}, "mu must be a finite number of at least 0, got inf"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        InverseSchedule(**arguments)
