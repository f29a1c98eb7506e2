import io

import numpy as np
import pytest
from PIL import Image

from annealed.app.output import figures
from annealed.models.model_files import load_model


@pytest.fixture(scope="module")
def classifier(trained):
    return load_model(trained[1]).classifiers[0]


def size_of(png):
    return Image.open(io.BytesIO(png)).size


def test_mean_window_leaves_the_margin_out():
    patches = np.zeros((2, 26, 26, 3), dtype=np.uint8)
    patches[:, 0], patches[0, 1:-1, 1:-1], patches[1, 1:-1, 1:-1] = 255, 10, 21
    assert figures.mean_window(patches).shape == (24, 24, 3)
    assert (figures.mean_window(patches) == 16).all()


def test_contact_sheet_places_windows_in_reading_order():
    patches = np.zeros((3, 26, 26, 3), dtype=np.uint8)
    patches += np.array([10, 20, 30], dtype=np.uint8)[:, None, None, None]
    sheet = figures.contact_sheet(patches[[0, 1, 2, 0, 1]], columns=2, zoom=1, gap=2)
    assert sheet.shape == (54, 54, 3)  # no row with an empty place
    assert [int(sheet[r, c, 0]) for r, c in ((2, 2), (2, 28), (28, 2), (28, 28))] == [10, 20, 30, 10]
    assert figures.contact_sheet(patches, columns=9, zoom=1, gap=2).shape == (28, 80, 3)


def test_contact_sheet_of_nothing():
    assert (figures.contact_sheet(np.zeros((0, 26, 26, 3), np.uint8), columns=3) == 255).all()


def test_strongest_is_the_widest_response_first(classifier):
    codes = np.random.default_rng(0).integers(0, 256, (len(classifier.pool), 100), dtype=np.uint8)
    order = figures.strongest(classifier, codes)
    spread = [classifier.tables[j][codes[j]].std() for j in order]
    assert (np.diff(spread) <= 0).all()


def test_pictures_of_a_classifier_are_drawn(classifier):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (len(classifier.pool), 50), dtype=np.uint8)
    order = figures.strongest(classifier, codes)
    window = rng.integers(0, 256, (24, 24, 3), dtype=np.uint8)
    assert min(size_of(figures.draw_features(classifier, window, order))) > 300
    assert min(size_of(figures.plot_responses(classifier, order, codes, codes[:, :0]))) > 300


@pytest.mark.parametrize("curves", [{}, {"a": []}, {"a": [[0.0, 1.0], [0.5, 0.8]], "b": [[0.1, 0.2]]}])
def test_plot_curves(curves):
    assert min(size_of(figures.plot_curves(curves))) > 300
