import numpy as np
import pytest

from annealed.models.survivors import Survivors


def choose(survivors, norms, size):
    """Choose and keep; return the positions of those that stay."""
    choice = survivors.choose(norms, size)
    assert len(survivors.kept) == len(norms)  # choosing alone changes nothing
    survivors.keep(choice)
    return choice.indices


def naive_choice(norms, size, forced):
    """Forced features first, then the largest; among equals, the lower index."""
    order = sorted(range(len(norms)), key=lambda j: (not forced[j], -norms[j], j))
    return sorted(order[:size])


@pytest.mark.parametrize("n_forced", [0, 1, 3])
def test_choice_agrees_with_naive_twin(rng, n_forced):
    for _ in range(50):
        n_features = int(rng.integers(n_forced + 1, 12))
        size = int(rng.integers(max(1, n_forced), n_features + 1))
        norms = rng.integers(0, 4, n_features) / 2  # full of ties
        forced = rng.choice(n_features, n_forced, replace=False)
        survivors = Survivors(n_features, None, forced)
        indices = choose(survivors, norms, size)
        assert indices.tolist() == naive_choice(norms, size, np.isin(np.arange(n_features), forced))
        assert survivors.kept.tolist() == indices.tolist()
        assert survivors.n_units == size


def test_groups_stay_or_leave_as_a_whole(rng):
    for _ in range(50):
        groups = rng.integers(0, 5, 14) * 10  # any labels, in any order
        labels = np.unique(groups)
        norms = rng.random(14)
        size = int(rng.integers(1, len(labels) + 1))
        survivors = Survivors(14, groups, None)
        indices = choose(survivors, norms, size)
        scores = [np.sqrt(np.mean(norms[groups == label] ** 2)) for label in labels]
        expected = np.isin(groups, labels[np.argsort(scores)[-size:]])
        assert indices.tolist() == np.flatnonzero(expected).tolist()
        again = choose(survivors, norms[indices], 1)  # group numbers were renewed
        assert len(np.unique(groups[indices][again])) == 1


def test_numbers_are_those_of_the_start():
    survivors = Survivors(6, None, None)
    choose(survivors, np.array([5.0, 0, 4, 1, 3, 2]), 4)
    assert survivors.kept.tolist() == [0, 2, 4, 5]
    choose(survivors, np.array([5.0, 4, 1, 2]), 3)
    assert survivors.kept.tolist() == [0, 2, 5]


def test_ranking_goes_back_in_time():
    """The last to leave ranks second; of those that leave together, the larger ranks higher."""
    survivors = Survivors(6, None, None)
    choose(survivors, np.array([5.0, 0, 4, 1, 3, 2]), 4)  # 1 and 3 leave
    choose(survivors, np.array([5.0, 4, 1, 2]), 3)  # 4 leaves
    assert survivors.ranking().tolist() == [1, 4, 1, 3, 2, 1]


def test_ranking_of_all_kept():
    assert Survivors(3, None, None).ranking().tolist() == [1, 1, 1]


def test_no_feature_need_be_kept():
    survivors = Survivors(3, None, np.array([]))
    assert choose(survivors, np.array([1.0, 3.0, 2.0]), 1).tolist() == [1]
