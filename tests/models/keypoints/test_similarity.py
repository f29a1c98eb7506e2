import contextlib
import io

import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.keypoints.similarity import (
    PhotoObjects,
    average_precision,
    check_sigmas,
    correct_share,
    fitted_sigmas,
    keypoint_errors,
    object_similarity,
)

SIGMAS = np.array([0.03, 0.05, 0.1])


def make_photo(points, scores, truth, areas, ignore=()):
    return PhotoObjects(
        np.array(points, dtype=float).reshape(-1, 3, 2),
        np.array(scores, dtype=float),
        np.array(truth, dtype=float).reshape(-1, 3, 2),
        np.array(areas, dtype=float),
        np.array(ignore, dtype=float).reshape(-1, 4),
    )


TRIANGLE = [[10, 10], [40, 10], [25, 40]]


def test_object_similarity_worked_by_hand():
    moved = [[13, 14], [40, 10], [25, 40]]  # 5 px
    photo = make_photo([moved], [1.0], [TRIANGLE], [900.0])
    first = np.exp(-25 / (2 * (2 * 0.03) ** 2 * 900))
    assert object_similarity(photo, SIGMAS)[0, 0] == pytest.approx((first + 2) / 3)


def test_object_similarity_leaves_out_what_is_not_annotated():
    truth = np.array(TRIANGLE, dtype=float)
    truth[0] = np.nan
    photo = make_photo([[[500, 500], [40, 10], [25, 40]]], [1.0], [truth], [900.0])
    assert object_similarity(photo, SIGMAS)[0, 0] == pytest.approx(1.0)


def test_a_keypoint_that_was_not_found_is_worth_nothing():
    photo = make_photo([[[np.nan, np.nan], [40, 10], [25, 40]]], [1.0], [TRIANGLE], [900.0])
    assert object_similarity(photo, SIGMAS)[0, 0] == pytest.approx(2 / 3)


def test_average_precision_of_nothing_is_not_a_number():
    scores = average_precision([make_photo([], [], [], [])], SIGMAS)
    assert np.isnan(scores.ap)
    assert scores.n_objects == 0


def test_average_precision_of_perfect_detections_is_one():
    scores = average_precision([make_photo([TRIANGLE], [2.0], [TRIANGLE], [900.0])], SIGMAS)
    assert (scores.ap, scores.ap50, scores.ap75, scores.recall) == pytest.approx((1, 1, 1, 1))


def random_photos(rng, n_photos):
    """Photos with missing, doubled and wrong objects, hidden keypoints, and regions to ignore."""
    photos = []
    for _ in range(n_photos):
        m = int(rng.integers(0, 4))
        truth = rng.uniform(0, 300, (m, 1, 2)) + rng.uniform(-40, 40, (m, 3, 2))
        areas = rng.uniform(500, 4000, m)
        found = [t + rng.normal(0, rng.choice([1, 3, 8]), t.shape) for t in truth if rng.random() < 0.9]
        found += [rng.uniform(0, 300, (3, 2)) for _ in range(rng.integers(0, 4))]
        found += [t + rng.normal(0, 2, t.shape) for t in truth if rng.random() < 0.3]
        truth[rng.random((m, 3)) < 0.2] = np.nan
        corner = rng.uniform(0, 250, (int(rng.integers(0, 2)), 2))
        ignore = np.concatenate([corner, corner + rng.uniform(20, 90, corner.shape)], axis=1)
        scores = rng.choice(np.linspace(0, 3, 7), len(found))  # with ties
        photos.append(make_photo(found, scores, truth, areas, ignore))
    return photos


def coco_numbers(photos, sigmas):
    """What pycocotools says of the same photos."""
    coco_api = pytest.importorskip("pycocotools.coco")
    from pycocotools.cocoeval import COCOeval

    images, annotations, results = [], [], []
    for i, photo in enumerate(photos, start=1):
        images.append({"id": i, "width": 400, "height": 400})
        for truth, area in zip(photo.truth, photo.areas, strict=True):
            known = np.isfinite(truth).all(axis=1)
            flat = np.column_stack([np.nan_to_num(truth), 2 * known]).ravel().tolist()
            annotations.append(
                {"id": len(annotations) + 1, "image_id": i, "category_id": 1, "iscrowd": 0, "area": area,
                 "bbox": [0, 0, 1, 1], "keypoints": flat, "num_keypoints": int(known.sum())}
            )  # fmt: skip
        for x0, y0, x1, y1 in photo.ignore.tolist():
            annotations.append(
                {"id": len(annotations) + 1, "image_id": i, "category_id": 1, "iscrowd": 1,
                 "area": (x1 - x0) * (y1 - y0), "bbox": [x0, y0, x1 - x0, y1 - y0], "keypoints": [0] * 9,
                 "num_keypoints": 0}
            )  # fmt: skip
        for points, score in zip(photo.points, photo.scores, strict=True):
            flat = np.column_stack([points, np.ones(3)]).ravel().tolist()
            results.append({"image_id": i, "category_id": 1, "keypoints": flat, "score": float(score)})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco_api.COCO()
        truth.dataset = {
            "info": {}, "images": images, "annotations": annotations,
            "categories": [{"id": 1, "name": "object"}],
        }  # fmt: skip
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(results), "keypoints")
        evaluation.params.kpt_oks_sigmas = sigmas
        evaluation.params.areaRng = [[0, 1e10]] * 3
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.stats[0], evaluation.stats[1], evaluation.stats[2], evaluation.stats[5]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_average_precision_is_that_of_pycocotools(seed):
    photos = random_photos(np.random.default_rng(seed), 30)
    mine = average_precision(photos, SIGMAS)
    theirs = coco_numbers(photos, SIGMAS)
    assert (mine.ap, mine.ap50, mine.ap75, mine.recall) == pytest.approx(theirs, abs=1e-12)
    assert 0.05 < mine.ap < 0.95


def test_keypoint_errors_assigns_objects_one_to_one():
    far = [[110, 10], [140, 10], [125, 40]]
    off = [[13, 14], [40, 10], [np.nan, np.nan]]
    photo = make_photo([far, off], [2.0, 1.0], [TRIANGLE, far], [900.0, 900.0])
    errors = keypoint_errors(photo)
    np.testing.assert_allclose(errors, [[5, 0, np.inf], [0, 0, 0]])


def test_keypoint_errors_without_detections_are_misses():
    truth = np.array(TRIANGLE, dtype=float)
    truth[1] = np.nan
    np.testing.assert_array_equal(
        keypoint_errors(make_photo([], [], [truth], [900.0])), [[np.inf, np.nan, np.inf]]
    )


def test_correct_share_counts_misses_and_leaves_out_the_unknown():
    errors = np.array([[1.0, np.inf, np.nan], [3.0, 0.5, np.nan]])
    share = correct_share(errors, np.array([20.0, 20.0]), 0.1)
    np.testing.assert_allclose(share, [0.5, 0.5, np.nan])


def test_fitted_sigmas_recovers_how_far_labels_are_apart(rng):
    truth = rng.uniform(0, 300, (4000, 3, 2))
    areas = rng.uniform(500, 4000, 4000)
    noise = rng.normal(0, 1, truth.shape) * SIGMAS[:, None] * np.sqrt(areas)[:, None, None] / np.sqrt(2)
    fitted = fitted_sigmas([truth], [truth + noise], [areas])
    np.testing.assert_allclose(fitted, SIGMAS, rtol=0.05)


def test_check_sigmas_takes_one_for_all():
    np.testing.assert_array_equal(check_sigmas([0.07], 3), [0.07, 0.07, 0.07])


@pytest.mark.parametrize("sigmas", [[], [0.1, 0.2], [0.1, -1.0, 0.2], [np.nan]])
def test_check_sigmas_refuses(sigmas):
    with pytest.raises(ParameterError, match="sigmas must be"):
        check_sigmas(sigmas, 3)
