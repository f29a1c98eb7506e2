import numpy as np
import pytest

from annealed.datasets.photos import sample_photos as samples
from annealed.datasets.photos.sample_photos import KEYPOINT_NAMES, load_astronaut, make_sample_photos
from annealed.features.errors import ParameterError


@pytest.fixture(scope="module")
def photos():
    return make_sample_photos(6)


def test_make_sample_photos_depends_only_on_seed_and_split(photos):
    again, other, test = (
        make_sample_photos(6),
        make_sample_photos(6, seed=1),
        make_sample_photos(6, split="test"),
    )
    for i in range(6):
        np.testing.assert_array_equal(photos.photos[i].read(), again.photos[i].read())
        assert (photos.photos[i].read() != other.photos[i].read()).any()
        assert (photos.photos[i].read() != test.photos[i].read()).any()


def test_splits_share_no_background():
    assert not set(samples.BACKGROUNDS["train"]) & set(samples.BACKGROUNDS["test"])
    assert "astronaut" not in samples.BACKGROUNDS["train"] + samples.BACKGROUNDS["test"]


def test_sample_points_are_upright_and_inside_their_box(photos):
    left_eye, right_eye, chin = (
        KEYPOINT_NAMES.index(n) for n in ("left_eye_center", "right_eye_center", "chin")
    )
    for photo in photos:
        assert photo.read().shape == (240, 320, 3)
        assert photo.read().dtype == np.uint8
        for points, box, size in zip(photo.points, photo.boxes, photo.sizes, strict=True):
            assert (points > box[:2]).all()
            assert (points < box[2:]).all()
            assert points[left_eye, 0] < points[right_eye, 0]
            assert points[chin, 1] > points[:2, 1].max() + size
            assert size == pytest.approx(np.linalg.norm(points[left_eye] - points[right_eye]))


def test_every_sample_photo_has_a_face_however_small():
    for photo in make_sample_photos(20, shape=(200, 200), max_faces=1, seed=3):
        assert len(photo.object_names) == 1


@pytest.mark.parametrize("seed", range(4))
def test_pose_head_moves_points_with_the_pixels(seed):
    """A bright dot painted on a keypoint is found again where the posed keypoint is said to be."""
    head = samples._cut_out_head()
    for j in range(len(KEYPOINT_NAMES)):
        rr, cc = np.mgrid[: head.mask.shape[0], : head.mask.shape[1]]
        x, y = head.points[j]
        dot = np.exp(-((rr - y) ** 2 + (cc - x) ** 2) / 18.0)
        marked = samples._Head(dot[..., None].repeat(3, axis=2), head.mask, head.points)
        pixels, _, points = samples._pose_head(marked, (30.0, 40.0), np.random.default_rng(seed))
        weight = pixels[..., 0] ** 2
        rr, cc = np.mgrid[: weight.shape[0], : weight.shape[1]]
        centre = np.array([(weight * cc).sum(), (weight * rr).sum()]) / weight.sum()
        distance = np.linalg.norm(points - centre, axis=1)
        # a mirrored head's left eye is its right eye
        assert distance.argmin() in (j, samples._MIRROR[j])
        assert distance.min() < 0.35


def test_astronaut_pupils_are_dark():
    photo = load_astronaut()
    grey = photo.read().mean(axis=2)
    for eye in photo.points[0, :2]:
        c, r = np.rint(eye).astype(int)
        assert grey[r - 1 : r + 2, c - 2 : c + 3].min() < 60
        assert grey[r - 1 : r + 2, c - 2 : c + 3].mean() < grey[r + 8 : r + 16, c - 4 : c + 5].mean() / 2


@pytest.mark.parametrize(
    "arguments", [{"split": "both"}, {"n_photos": 0}, {"shape": (100, 300)}, {"max_faces": 0}]
)
def test_make_sample_photos_bad_argument(arguments):
    with pytest.raises(ParameterError, match="must be"):
        make_sample_photos(**{"n_photos": 2, **arguments})
