import numpy as np
import pytest

from annealed.datasets.tracks.sample_clip import make_sample_clip


@pytest.fixture(scope="module")
def clip():
    return make_sample_clip(6)


def test_the_disc_moves_before_a_ground_that_pans(clip):
    assert clip.frames.shape == (6, 240, 320, 3)
    assert clip.discs[-1, 0] - clip.discs[0, 0] == pytest.approx(105)
    # the ground of the second frame is that of the first, moved by 1.6 and 0.64 pixels
    first, second = (frame[5:60, 5:200].astype(float) for frame in clip.frames[:2])
    still = np.abs(second - first).mean()
    assert np.abs(second[:-1, :-2] - first[1:, 2:]).mean() < still


def test_tracks_are_labelled_by_where_they_are_seen_first(clip):
    x, y, radius = clip.discs[0]
    positions = np.zeros((3, 6, 2))
    positions[0, 0] = x, y
    positions[1, 0] = x + radius + 1, y
    positions[2, 3] = clip.discs[3, :2]
    visible = np.ones((3, 6), dtype=bool)
    visible[2, :3] = False
    assert clip.labels(positions, visible).tolist() == [1, 0, 1]
