from dataclasses import replace

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.keypoints.keypoint_classifier import KeypointClassifier


@pytest.fixture
def patches(rng):
    return rng.integers(0, 256, size=(7, 26, 26, 3), dtype=np.uint8)


def test_scores_are_the_sum_of_interpolated_responses(make_classifier, patches):
    """Equation (12) computed on the values themselves; a code is at most half a step away."""
    classifier = make_classifier()
    values = classifier.pool.compute(patches).astype(np.float64)
    expected = np.full(len(patches), classifier.intercept)
    responses = classifier.model.responses
    slack = 0.0
    for j, value in enumerate(values):
        knots = responses.values[0, j].astype(np.float64)
        ends = np.linspace(responses.low[j], responses.high[j], len(knots))
        expected += np.interp(value, ends, knots)
        slack += np.abs(np.diff(knots)).max() * (len(knots) - 1) / 255 / 2
    found = classifier.scores(patches)
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() <= slack + 1e-4


def test_tables_hold_the_knots_at_the_ends_of_the_bins(make_classifier):
    classifier = make_classifier(n_bins=5)  # 255 / 5 = 51 codes a bin
    knots = classifier.model.responses.values[0]
    np.testing.assert_allclose(classifier.tables[:, ::51], knots, rtol=1e-6)
    np.testing.assert_allclose(classifier.tables[:, 17], knots[:, 0] * 2 / 3 + knots[:, 1] / 3, rtol=1e-4)


@pytest.mark.parametrize(("floor", "row"), [(-1.0, 0), (-0.1, 0), (0.0, 1), (0.99, 1), (1.0, 2), (9.0, 2)])
def test_cascade_takes_the_highest_floor_below(make_classifier, floor, row):
    classifier = make_classifier()
    np.testing.assert_array_equal(classifier.cascade(floor), classifier.rejection[row])


def test_cascade_below_all_floors_rejects_nothing(make_classifier):
    assert np.isneginf(make_classifier().cascade(-1.01)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rejection": np.zeros((2, 30), np.float32)}, "rejection has shape"),
        ({"rejection": np.full((3, 30), np.nan, np.float32)}, "no numbers"),
        ({"floors": np.array([0, 0, 1], np.float32)}, "floors do not ascend"),
        ({"threshold": np.nan}, "threshold that is not finite"),
    ],
)
def test_classifier_refuses_arrays_that_do_not_fit(make_classifier, change, message):
    classifier = make_classifier()
    with pytest.raises(DataError, match=message):
        replace(classifier, **change)


def test_classifier_has_one_sum(make_classifier):
    classifier = make_classifier()
    with pytest.raises(DataError, match="more than one sum"):
        replace(classifier, model=classifier.model.with_outputs([0, 0]))


def test_classifier_without_cascade_rejects_nothing(make_classifier, patches):
    classifier = make_classifier()
    bare = KeypointClassifier.without_cascade("chin", classifier.model)
    assert np.isneginf(bare.cascade(5.0)).all()
    np.testing.assert_array_equal(bare.scores(patches), classifier.scores(patches))
