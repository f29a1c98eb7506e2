from types import SimpleNamespace

import numpy as np
import pytest

from annealed.features.pool import cut_windows
from annealed.features.pyramid import gaussian_pyramid
from annealed.models.keypoints.training.mining import (
    Examples,
    HardestNegatives,
    join_examples,
    mine_photo,
    no_examples,
    positives_of_photo,
    random_negatives_of_photo,
)
from annealed.models.keypoints.training.targets import TargetConfig, are_negatives, keypoint_targets

RULE = TargetConfig(size_range_px=(10.0, 20.0))


@pytest.fixture
def levels(photo):
    return gaussian_pyramid(photo)


@pytest.fixture
def targets():
    """One object of 16 px at (40.6, 30.2), and a corner to be ignored."""
    annotation = SimpleNamespace(
        points=np.array([[(40.6, 30.2)]]),
        visible=np.array([[True]]),
        sizes=np.array([16.0]),
        boxes=np.full((1, 4), np.nan),
        ignore=np.array([[0.0, 0.0, 8.0, 8.0]]),
    )
    return keypoint_targets(annotation, 0)


def every_negative(targets, level):
    """Places of all negatives of a level, in reading order."""
    places = np.indices(level.image.shape[:2])[::-1].reshape(2, -1).T
    return places[are_negatives(targets, RULE, level, places)]


def check_patches(examples, levels):
    """The pixels of every example are those at its key."""
    for patch, (_, index, row, col) in zip(examples.patches, examples.keys, strict=True):
        expected = cut_windows(levels[index].image, np.array([row]), np.array([col]))[0]
        np.testing.assert_array_equal(patch, expected)


def test_positives_of_photo_lie_on_the_right_levels(levels, targets):
    found = positives_of_photo(7, levels, targets, RULE)
    check_patches(found, levels)
    assert set(found.keys[:, 0]) == {7}
    # 16 px is within 10 to 20 px at scales 1, 0.84 and 0.71
    assert set(found.keys[:, 1]) == {0, 1, 2}
    for _, index, row, col in found.keys:
        point = levels[index].from_photo(targets.points[0])
        assert np.hypot(*(point - (col, row))) <= 1


def test_random_negatives_of_photo_are_allowed_and_different(levels, targets, rng):
    found = random_negatives_of_photo(3, levels, targets, RULE, 300, rng)
    check_patches(found, levels)
    assert len(np.unique(found.keys, axis=0)) == 300
    for index, level in enumerate(levels):
        places = found.keys[found.keys[:, 1] == index, :1:-1]
        assert are_negatives(targets, RULE, level, places).all()
    assert (np.diff(found.keys[:, 1]) >= 0).all()
    shares = np.bincount(found.keys[:, 1], minlength=len(levels)) / 300
    expected = np.array([len(every_negative(targets, level)) for level in levels])
    expected = expected / expected.sum()
    assert np.abs(shares - expected).max() < 0.1


def test_random_negatives_of_photo_with_few_or_none(levels, targets, rng):
    n_allowed = sum(len(every_negative(targets, level)) for level in levels)
    assert len(random_negatives_of_photo(0, levels, targets, RULE, 10**6, rng)) == n_allowed
    everything = SimpleNamespace(**{**vars(targets), "ignore": np.array([[-1e9, -1e9, 1e9, 1e9]])})
    assert len(random_negatives_of_photo(0, levels, everything, RULE, 10, rng)) == 0


def candidates(keys, scores):
    keys = np.array(keys, dtype=np.int32).reshape(-1, 4)
    patches = np.zeros((len(keys), 26, 26, 3), dtype=np.uint8)
    patches[:, 0, 0, 0] = keys[:, 3]
    return Examples(patches, keys), np.array(scores, dtype=np.float32)


@pytest.mark.parametrize("n_wanted", [1, 5, 40])
def test_hardest_negatives_do_not_depend_on_the_order(rng, n_wanted):
    keys = np.column_stack([rng.integers(0, 4, (60, 2)), np.arange(60), rng.integers(0, 200, 60)])
    scores = np.round(rng.normal(size=60), 1)  # with ties
    best = sorted(range(60), key=lambda i: (-scores[i], *keys[i]))[:n_wanted]
    for seed in range(3):
        collector = HardestNegatives(n_wanted, -9.0, no_examples().keys)
        for part in np.array_split(np.random.default_rng(seed).permutation(60), 7):
            collector.add(*candidates(keys[part], scores[part]))
        found, found_scores = collector.result()
        np.testing.assert_array_equal(found.keys, keys[best])
        np.testing.assert_allclose(found_scores, scores[best], rtol=1e-6)
        np.testing.assert_array_equal(found.patches[:, 0, 0, 0], keys[best][:, 3])


def test_hardest_negatives_know_what_is_new():
    known = np.array([[5, 2, 0, 1], [0, 0, 0, 0]], dtype=np.int32)
    collector = HardestNegatives(10, 0.0, known)
    keys = np.array([[5, 2, 0, 1], [5, 2, 1, 0], [0, 0, 0, 0], [5, 3, 0, 1]], dtype=np.int32)
    assert collector.wanted.are_new(keys).tolist() == [False, True, False, True]


def test_hardest_negatives_floor_rises_to_what_is_needed(rng):
    keys = np.column_stack([np.zeros((9000, 3), dtype=int), np.arange(9000)])
    scores = np.sort(rng.normal(size=9000).astype(np.float32))[::-1]
    collector = HardestNegatives(4000, -1.0, no_examples().keys)
    collector.add(*candidates(keys[:2000], scores[:2000]), share=0.1)
    assert collector.floor == -1  # too few to say
    collector.add(*candidates(keys[2000:4000], scores[2000:4000]), share=0.1)
    assert collector.floor == scores[int(2 * 0.1 * 4000) + 2000 - 1]
    collector.add(*candidates(keys[4000:], scores[4000:]), share=1.0)
    assert collector.floor == scores[2799]  # what was passed over once is gone


def test_hardest_negatives_of_nothing():
    found, scores = HardestNegatives(3, -1.0, no_examples().keys).result()
    assert len(found) == len(scores) == 0


def mine(levels, classifier, targets, collector):
    """Mine one photo for one classifier."""
    [found] = mine_photo(0, levels, RULE, [classifier], [targets], [collector.wanted], [collector.floor])
    collector.add(*found)
    return collector


def test_mine_photo_finds_the_highest_scores_of_all_windows(make_classifier, levels, targets):
    """Against exact scores of every allowed window, with a classifier that rejects nothing."""
    classifier = make_classifier()
    collector = HardestNegatives(25, -5.0, no_examples().keys)
    found, scores = mine(levels, classifier, targets, collector).result()
    check_patches(found, levels)
    np.testing.assert_array_equal(scores, classifier.scores(found.patches))
    every = []
    for level in levels:
        cols, rows = every_negative(targets, level).T
        every.append(classifier.scores(cut_windows(level.image, rows, cols)))
    np.testing.assert_allclose(scores, np.sort(np.concatenate(every))[::-1][:25])


def test_mine_photo_again_gives_other_negatives(make_classifier, levels, targets):
    classifier = make_classifier()
    first = HardestNegatives(25, -5.0, no_examples().keys)
    mine(levels, classifier, targets, first)
    second = HardestNegatives(25, -5.0, first.result()[0].keys)
    mine(levels, classifier, targets, second)
    both = join_examples([first.result()[0], second.result()[0]])
    assert len(np.unique(both.keys, axis=0)) == 50
    assert second.result()[1].max() <= first.result()[1].min()


def test_mine_photo_takes_the_hardest_of_each_square(make_classifier, levels, targets):
    classifier = make_classifier()
    every, spaced = (HardestNegatives(10**6, -1.5, no_examples().keys) for _ in range(2))
    mine(levels, classifier, targets, every)
    [found] = mine_photo(
        0, levels, RULE, [classifier], [targets], [spaced.wanted], [spaced.floor], spacing_px=4
    )
    spaced.add(*found)
    hardest = {}
    for key, score in zip(*(a.tolist() for a in (every.result()[0].keys, every.result()[1])), strict=True):
        square = (key[1], key[2] // 4, key[3] // 4)
        hardest[square] = max(score, hardest.get(square, -np.inf))
    assert 1 < len(hardest) < len(every.result()[1])
    np.testing.assert_allclose(spaced.result()[1], sorted(hardest.values(), reverse=True))
