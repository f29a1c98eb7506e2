import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.keypoints.parts.relations import (
    NO_PARENT,
    Relations,
    fit_relations,
    log_likelihood,
)


def two_views(rng, n=60):
    """Points: one fixed, one that roams, a second view of it with the same x, and one beside it."""
    fixed = np.array([3, 3]) + rng.normal(0, 0.02, (n, 2))
    roaming = rng.uniform(-1, 1, (n, 2))
    below = np.stack([roaming[:, 0], 2 + rng.uniform(-0.3, 0.3, n)], axis=1) + rng.normal(0, 0.02, (n, 2))
    beside = roaming + np.array([0.2, 0.1]) + rng.normal(0, 0.02, (n, 2))
    return np.stack([fixed, roaming, below, beside], axis=1)


def test_the_tree_joins_what_goes_together(rng):
    relations = fit_relations(two_views(rng))
    edges = {frozenset((k, p)) for k, p in enumerate(relations.parent.tolist()) if p != NO_PARENT}
    assert frozenset((1, 3)) in edges
    assert edges & {frozenset((1, 2)), frozenset((2, 3))}
    assert not any(0 in edge for edge in edges)  # the fixed one depends on nothing


def test_a_second_view_tells_x_and_not_y(rng):
    points = two_views(rng)
    relations = fit_relations(points)
    child = 2 if relations.parent[2] != NO_PARENT else int(np.flatnonzero(relations.parent == 2)[0])
    spread = np.sqrt(relations.covariance[child].diagonal())
    assert spread[0] < 0.1 < spread[1]
    seen = relations.predicted(child, points[:, relations.parent[child]])
    assert np.abs(seen[:, 0] - points[:, child, 0]).max() < 0.3


def test_what_is_learned_is_likelier_than_what_is_shuffled(rng):
    relations, points = fit_relations(two_views(rng)), two_views(rng)
    shuffled = points.copy()
    shuffled[:, 3] = rng.permutation(shuffled[:, 3])
    assert log_likelihood(relations, points).mean() > log_likelihood(relations, shuffled).mean() + 2


def test_unknown_points_do_not_count(rng):
    points = two_views(rng)
    relations = fit_relations(points)
    nothing = np.full((1, 4, 2), np.nan)
    assert log_likelihood(relations, nothing).tolist() == [0.0]
    points[::3, 1] = np.nan
    assert np.isfinite(log_likelihood(fit_relations(points), points)).all()


def test_every_keypoint_comes_after_its_parent(rng):
    relations = fit_relations(two_views(rng))
    place = {k: i for i, k in enumerate(relations.order)}
    assert sorted(place) == [0, 1, 2, 3]
    assert all(place[p] < place[k] for k, p in enumerate(relations.parent.tolist()) if p != NO_PARENT)


@pytest.mark.parametrize(
    ("parent", "covariance", "message"),
    [
        ([1, 0], 1.0, "no tree"),
        ([0, -1], 1.0, "no tree"),
        ([-1, 5], 1.0, "no tree"),
        ([-1, 0], 0.0, "positive"),
    ],
)
def test_broken_relations_are_refused(parent, covariance, message):
    arrays = (
        np.zeros((2, 2)),
        np.array(parent),
        np.zeros((2, 2, 2)),
        np.tile(np.eye(2) * covariance, (2, 1, 1)),
    )
    with pytest.raises(DataError, match=message):
        Relations(*arrays)
