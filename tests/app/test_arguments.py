import numpy as np
import pytest

from annealed.app.arguments import scale_reference, sized
from annealed.datasets.photos.photo_set import with_sizes
from annealed.datasets.photos.sample_photos import make_sample_photos
from annealed.features.errors import ParameterError


def test_sized_by_a_rule_is_the_rule():
    photos = make_sample_photos(3, shape=(200, 220), max_faces=1)
    for text, reference in (("box", "box"), ("left_eye_center, chin", ("left_eye_center", "chin"))):
        for one, other in zip(sized(photos, text), with_sizes(photos, reference), strict=True):
            np.testing.assert_array_equal(one.sizes, other.sizes)


def test_sized_by_shape_is_near_the_eye_distance_of_frontal_faces():
    photos = make_sample_photos(16, shape=(200, 220), max_faces=1)
    fitted = np.concatenate([photo.sizes for photo in sized(photos, "shape")])
    eyes = np.concatenate([photo.sizes for photo in with_sizes(photos)])
    assert len(fitted) == photos.n_objects >= 10
    assert (fitted != eyes).any()
    np.testing.assert_allclose(fitted, eyes, rtol=0.15)


@pytest.mark.parametrize("text", ["height", "a,b,c", "a,a", ","])
def test_scale_reference_refuses(text):
    with pytest.raises(ParameterError, match="accepted are auto, size, box, shape, or two keypoints"):
        scale_reference(text)
