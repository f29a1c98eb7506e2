import numpy as np

from annealed.features.maps import LevelMaps
from annealed.features.patches import cut_windows
from annealed.models.keypoints.parts.canvas import Canvas
from annealed.models.keypoints.parts.relations import NO_PARENT
from annealed.models.keypoints.parts.search import (
    UNSEEN,
    Candidates,
    apart,
    choose,
    find_parts,
    finer_pixels,
    zone_pixels,
)
from annealed.models.keypoints.scan import respond_at


def noise_canvas(rng, n_zooms=2):
    sizes = [64 // 2**z for z in range(n_zooms)][::-1]
    images = tuple(rng.integers(0, 256, (s, s, 3), dtype=np.uint8) for s in sizes)
    return Canvas(images, 64.0, np.array([-0.5, -0.5]))


def test_sums_at_places_are_those_of_cut_windows(rng, make_model):
    image = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
    rows, cols = np.array([0, 12, 39, 20]), np.array([49, 25, 0, 20])
    model = make_model(n_outputs=2)
    found = respond_at(LevelMaps(image), model, rows, cols)
    np.testing.assert_allclose(found, model.respond(cut_windows(image, rows, cols)), rtol=1e-5)


def test_zones_end_at_the_canvas(rng):
    canvas = noise_canvas(rng)
    assert len(zone_pixels(canvas, np.array([-9.0, -9, 9, 9]), 0)) == 32 * 32
    assert len(zone_pixels(canvas, np.array([5.0, 5, 6, 6]), 0)) >= 1
    some = zone_pixels(canvas, np.array([0.25, 0.5, 0.5, 0.75]), 0)
    assert some.min(axis=0).tolist() == [7, 15]


def test_the_best_places_lie_apart():
    pixels = np.array([[0, 0], [1, 0], [5, 0], [9, 9]])
    assert apart(pixels, np.array([1.0, 3, 2, 4])).tolist() == [3, 1, 2]
    assert apart(pixels, np.array([1.0, 3, 2, 4]), most=1).tolist() == [3]


def test_finer_pixels_take_the_better_place_s_sums(rng):
    canvas = noise_canvas(rng)
    pixels, sums = finer_pixels(canvas, np.array([[3, 3], [4, 3], [31, 31]]), np.array([[5.0], [1], [2]]), 1)
    assert len(np.unique(pixels, axis=0)) == len(pixels)
    shared = (pixels == [7, 6]).all(axis=1)
    assert sums[shared].tolist() == [[5.0]]
    assert pixels.max() <= 63
    assert sums[(pixels == [62, 62]).all(axis=1)].tolist() == [[2.0]]


def naive_choice(places, odds, model):
    """The best of all combinations, those unseen included."""
    relations = model.relations
    best, chosen = -np.inf, None
    for number in range(len(places[0])):
        root = places[0][number]
        value = odds[0][number] - 0.5 * min(relations.squared(0, root - relations.mean[0]), 16)
        options = [*zip(places[1], odds[1], strict=True), (relations.predicted(1, root[None])[0], UNSEEN)]
        for child, own in options:
            off = child - relations.predicted(1, root[None])[0]
            total = value + own - 0.5 * min(relations.squared(1, off), 16)
            if total > best:
                best, chosen = total, (root, child)
    return best, np.array(chosen)


def test_the_choice_is_the_best_of_all(rng, part_model):
    model = part_model(parent=[NO_PARENT, 0])
    for _ in range(30):
        places = [rng.uniform(0.2, 0.8, (5, 2)) for _ in range(2)]
        odds = [rng.normal(0, 4, 5), rng.normal(-2, 4, 5)]
        found = [Candidates(p, np.zeros((5, 2), int), np.zeros((5, 2))) for p in places]
        choice, points, score = choose(found, odds, model)
        # the root itself may lie at its usual place, unseen
        places[0], odds[0] = np.vstack([places[0], model.relations.mean[0]]), np.append(odds[0], UNSEEN)
        best, chosen = naive_choice(places, odds, model)
        np.testing.assert_allclose(score, best)
        np.testing.assert_allclose(points, chosen)
        assert choice[1] is None or np.array_equal(places[1][choice[1]], points[1])


def test_all_keypoints_are_found_somewhere(rng, part_model):
    found = find_parts(noise_canvas(rng), part_model(3))
    assert found.points.shape == (3, 2)
    assert found.terms.shape == (3, 4)
    assert np.isfinite(found.terms).all()
