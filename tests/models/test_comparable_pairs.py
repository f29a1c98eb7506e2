import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.comparable_pairs import comparable_pairs


def naive_pairs(grades, qid, include_ties):
    listed = {}
    for i in range(len(grades)):
        for j in range(i + 1, len(grades)):
            if qid[i] == qid[j] and (include_ties or grades[i] != grades[j]):
                listed[i, j] = 0.5 if grades[i] == grades[j] else float(grades[i] > grades[j])
    return listed


@pytest.mark.parametrize("include_ties", [True, False])
@pytest.mark.parametrize("n_groups", [1, 3, 20])
def test_pairs_agree_with_naive_twin(rng, include_ties, n_groups):
    grades = rng.integers(0, 3, 20)
    qid = rng.integers(0, n_groups, 20)
    pairs, r = comparable_pairs(grades, qid, include_ties=include_ties)
    listed = dict(zip(map(tuple, pairs.tolist()), r.tolist(), strict=True))
    assert listed == naive_pairs(grades, qid, include_ties)
    assert len(listed) == len(pairs)


def test_pairs_by_hand():
    pairs, r = comparable_pairs([2.0, 1.0, 2.0, 9.0], ["a", "a", "a", "b"])
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert r.tolist() == [1.0, 0.5, 0.0]
    assert pairs.dtype == np.int64


def test_all_samples_are_comparable_without_groups():
    assert len(comparable_pairs([1, 2, 3, 4])[0]) == 6


def test_single_samples_give_no_pairs():
    pairs, r = comparable_pairs([1, 2], [0, 1])
    assert pairs.shape == (0, 2)
    assert r.shape == (0,)


@pytest.mark.parametrize(("grades", "qid"), [([1, 2, 3], [0, 0]), ([[1], [2]], [0, 0])])
def test_shapes_that_differ_are_refused(grades, qid):
    with pytest.raises(DataError, match="qid and y must have one value a sample, got shapes"):
        comparable_pairs(grades, qid)


def test_no_samples_give_no_pairs():
    pairs, r = comparable_pairs([])
    assert pairs.shape == (0, 2)
    assert r.shape == (0,)
