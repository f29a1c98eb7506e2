"""A third channel takes one file, tests/shared/pixel_pairs.py: everything else takes it from there."""

import numpy as np
import pytest
from pixel_pairs import PixelPairs
from scanned import features_at, features_of_row

from annealed.app.output import figures
from annealed.features.channels.channel import Mark
from annealed.features.channels.haar import HAAR, HaarChannel
from annealed.features.channels.hog import HOG
from annealed.features.channels.known_channels import CHANNELS, register, unregister
from annealed.features.errors import DataError, ParameterError
from annealed.features.maps import LevelMaps
from annealed.features.patches import cut_windows
from annealed.features.pool import WindowPool
from annealed.models.keypoints.packing import pack_classifiers, unpack_classifiers
from annealed.models.keypoints.scan import score_map
from annealed.models.keypoints.training.classifier_fitting import FitConfig, TrainingSet, fit_classifier
from annealed.models.keypoints.training.mining import Examples, no_examples
from annealed.models.keypoints.training.phases import Phases
from annealed.models.model_files import ModelFile

PAIRS = PixelPairs()
PAIR = [6, 2, 3, 4, 20, 23, 0]


@pytest.fixture
def pairs():
    register(PAIRS)
    yield PAIRS
    unregister(PAIRS)


@pytest.fixture
def mixed(pairs):
    """Some features of all three channels, in no order."""
    every = WindowPool.default()
    some = np.concatenate([np.arange(0, 864, 90), np.arange(864, len(every) - 192, 6000)])
    some = np.concatenate([some, np.flatnonzero(every.belongs_to(pairs))[::12]])
    return every[np.random.default_rng(1).permutation(some)]


def test_its_features_join_the_default_pool(pairs):
    paper = WindowPool.default()
    assert paper.channels == [HOG, HAAR, pairs]
    assert paper.belongs_to(pairs).sum() == 3 * 64
    unregister(pairs)
    assert np.array_equal(WindowPool.default().descriptors, paper.descriptors[: -3 * 64])
    register(pairs)


def test_its_descriptors_are_checked_and_named(pairs):
    pool = WindowPool.from_descriptors(np.array([PAIR], np.uint8))
    assert pool.names() == ["blue at (3, 4) minus (20, 23)"]
    assert pool.draw(0) == [Mark(3, 4, 1, 1, 1), Mark(20, 23, 1, 1, -1)]
    with pytest.raises(DataError, match="no feature of a 24 x 24 window"):
        WindowPool.from_descriptors(np.array([[*PAIR[:-2], 24, 0]], np.uint8))


def test_its_descriptors_are_unknown_without_it():
    with pytest.raises(DataError, match="no feature of a 24 x 24 window"):
        WindowPool.from_descriptors(np.array([PAIR], np.uint8))


def test_stored_windows_have_its_values(pairs, rng):
    patches = rng.integers(0, 256, (70, 26, 26, 3), dtype=np.uint8)
    values = WindowPool.from_descriptors(np.array([PAIR], np.uint8)).compute(patches)
    inner = patches[:, 1:-1, 1:-1].astype(int)
    assert np.array_equal(values[0], inner[:, 3, 4, 2] - inner[:, 20, 23, 2])


def test_other_channels_have_the_same_values_beside_it(mixed, pairs, rng):
    patches = rng.integers(0, 256, (70, 26, 26, 3), dtype=np.uint8)
    others = mixed[~mixed.belongs_to(pairs)]
    beside = mixed.compute(patches)[~mixed.belongs_to(pairs)]
    unregister(pairs)
    assert np.array_equal(others.compute(patches), beside)
    register(pairs)


def test_a_level_has_the_values_of_the_windows_cut_out(mixed, rng):
    level = rng.integers(0, 256, (31, 40, 3), dtype=np.uint8)
    rows, cols = rng.integers(0, 31, 20), rng.integers(0, 40, 20)
    maps = LevelMaps(level)
    assert np.array_equal(features_at(mixed, maps, rows, cols), mixed.compute(cut_windows(level, rows, cols)))
    row = features_at(mixed, maps, np.full(40, 7), np.arange(40))
    assert np.array_equal(features_of_row(mixed, maps, 7), row)


def test_a_detector_is_trained_on_it_scans_with_it_is_kept_and_drawn(mixed, rng):
    def examples(n, bright):
        patches = rng.integers(0, 160, size=(n, 26, 26, 3), dtype=np.uint8)
        patches[:, 9:17, 9:17] += np.uint8(60 * bright)
        return Examples(patches, np.zeros((n, 4), dtype=np.int32))

    data = TrainingSet(examples(80, True), examples(200, False), n_random=200, held_out=no_examples())
    classifier, _ = fit_classifier("spot", mixed, data, FitConfig(k=12, n_iter=40), 0, -1.0, Phases())
    assert PAIRS in classifier.pool.channels

    photo = rng.integers(0, 220, (30, 33, 3), dtype=np.uint8)
    rows, cols = np.indices((30, 33)).reshape(2, -1)
    expected = classifier.scores(cut_windows(photo, rows, cols))
    assert np.array_equal(score_map(LevelMaps(photo), classifier, 0.0, exact=True).ravel(), expected)

    (again,) = unpack_classifiers(ModelFile("keypoint-detector", *pack_classifiers([classifier])))
    assert np.array_equal(again.pool.descriptors, classifier.pool.descriptors)

    window = figures.mean_window(data.positives.patches)
    assert figures.draw_features(classifier, window, np.arange(12)).startswith(b"\x89PNG")


def test_names_and_kinds_are_taken_once():
    class Namesake(PixelPairs):
        name = "HOG"

    class Twin(HaarChannel):
        name = "Haar again"

    before = list(CHANNELS)
    with pytest.raises(ParameterError, match="a channel named 'HOG' already"):
        register(Namesake())
    with pytest.raises(ParameterError, match="'Haar again' has kinds of 'Haar'"):
        register(Twin())
    assert before == CHANNELS


def test_compiled_code_is_kept_of_one_source(tmp_path, monkeypatch):
    """Two channels of one name and different files have tags of different types."""
    file = tmp_path / "pairs.py"
    tags = []
    for text in ("a = 1", "a = 2", "a = 1"):
        file.write_text(text)
        channel = PixelPairs()
        monkeypatch.setattr("pixel_pairs.__file__", str(file))
        tags.append(channel.tag.dtype)
    assert tags[0] != tags[1]
    assert tags[0] == tags[2]
