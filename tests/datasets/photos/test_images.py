import subprocess

import numpy as np
import pytest
from PIL import Image

from annealed.datasets.photos.images import read_image, read_image_size
from annealed.features.errors import DataError


@pytest.fixture
def pixels():
    """A picture without any symmetry."""
    return np.random.default_rng(0).integers(0, 256, size=(6, 9, 3), dtype=np.uint8)


def test_read_image_rgb_is_untouched(tmp_path, pixels):
    Image.fromarray(pixels).save(tmp_path / "a.png")
    found = read_image(tmp_path / "a.png")
    assert found.dtype == np.uint8
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, pixels)


# What a viewer does to the stored pixels for each value of the EXIF orientation tag.
UPRIGHT = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: a[::-1].transpose(1, 0, 2),
    7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
    8: lambda a: a[:, ::-1].transpose(1, 0, 2),
}


@pytest.mark.parametrize("orientation", UPRIGHT)
def test_read_image_applies_exif_orientation(tmp_path, pixels, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(pixels).save(tmp_path / "a.png", exif=exif)
    expected = UPRIGHT[orientation](pixels)
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), expected)
    assert read_image_size(tmp_path / "a.png") == expected.shape[:2]


def test_read_image_grey_is_repeated(tmp_path, pixels):
    Image.fromarray(pixels[..., 0]).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), np.repeat(pixels[..., :1], 3, axis=2))


def test_read_image_transparent_is_laid_on_white(tmp_path, pixels):
    alpha = np.zeros((6, 9, 1), dtype=np.uint8)
    alpha[2:] = 255
    Image.fromarray(np.concatenate([pixels, alpha], axis=2)).save(tmp_path / "a.png")
    found = read_image(tmp_path / "a.png")
    assert (found[:2] == 255).all()
    np.testing.assert_array_equal(found[2:], pixels[2:])


def test_read_image_16_bit_grey_keeps_its_range(tmp_path):
    deep = np.array([[0, 257, 32896, 65535]], dtype=np.uint16)
    Image.fromarray(deep).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png")[0, :, 0], [0, 1, 128, 255])


def test_read_image_float_grey_in_unit_range(tmp_path):
    Image.fromarray(np.array([[0.0, 0.5, 1.0]], dtype=np.float32)).save(tmp_path / "a.tiff")
    np.testing.assert_array_equal(read_image(tmp_path / "a.tiff")[0, :, 0], [0, 128, 255])


def test_read_image_float_grey_not_finite(tmp_path):
    Image.fromarray(np.array([[0.0, np.nan]], dtype=np.float32)).save(tmp_path / "a.tiff")
    with pytest.raises(DataError, match="not finite"):
        read_image(tmp_path / "a.tiff")


def test_read_image_palette(tmp_path):
    picture = Image.new("P", (4, 3))
    picture.putpalette([10, 20, 30, 200, 100, 50])
    picture.putpixel((2, 1), 1)
    picture.save(tmp_path / "a.png")
    found = read_image(tmp_path / "a.png")
    assert found[0, 0].tolist() == [10, 20, 30]
    assert found[1, 2].tolist() == [200, 100, 50]


def test_read_image_cmyk(tmp_path):
    Image.new("CMYK", (4, 3), (0, 255, 255, 0)).save(tmp_path / "a.tiff")
    red = read_image(tmp_path / "a.tiff")[0, 0]
    assert red[0] > 200
    assert red[1:].max() < 60


def test_read_image_animation_gives_the_first_frame(tmp_path):
    frames = [Image.new("RGB", (4, 3), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert read_image(tmp_path / "a.gif")[0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize("suffix", ["jpg", "tiff", "png", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_size_is_that_of_the_pixels(tmp_path, pixels, suffix, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(pixels).save(tmp_path / f"a.{suffix}", exif=exif)
    size = read_image(tmp_path / f"a.{suffix}").shape[:2]
    assert read_image_size(tmp_path / f"a.{suffix}") == size == ((6, 9) if orientation < 5 else (9, 6))


POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 6\n%%EndComments\n%%EOF\n"


@pytest.mark.parametrize("content", [POSTSCRIPT, b"%PDF-1.4\n", b"<svg xmlns='http://www.w3.org/2000/svg'/>"])
@pytest.mark.parametrize("reader", [read_image, read_image_size])
def test_what_needs_a_program_is_no_picture(tmp_path, monkeypatch, content, reader):
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **kwargs: started.append(args))
    (tmp_path / "a.jpg").write_bytes(content)
    Image.init()  # now Pillow knows of all its formats
    with pytest.raises(DataError, match=r"a\.jpg: not a picture of a kind that is read"):
        reader(tmp_path / "a.jpg")
    assert not started


def test_a_name_that_is_too_long_is_no_photo(tmp_path):
    with pytest.raises(DataError, match="File name too long"):
        read_image(tmp_path / ("a" * 300))


def test_read_image_missing(tmp_path):
    with pytest.raises(DataError, match=r"gone\.jpg: no such photo"):
        read_image(tmp_path / "gone.jpg")


def test_read_image_not_a_picture(tmp_path):
    (tmp_path / "a.jpg").write_text("hello")
    with pytest.raises(DataError, match=r"a\.jpg: not a picture"):
        read_image(tmp_path / "a.jpg")


@pytest.mark.parametrize("suffix", ["jpg", "png", "gif", "bmp", "tiff", "webp"])
def test_read_image_truncated(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    noise = np.random.default_rng(0).integers(0, 256, size=(64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DataError, match=rf"a\.{suffix}"):
        read_image(path)


@pytest.mark.parametrize("reader", [read_image, read_image_size])
def test_absurd_size_is_refused_before_decoding(tmp_path, pixels, monkeypatch, reader):
    Image.fromarray(pixels).save(tmp_path / "a.png")
    monkeypatch.setenv("ANNEALED_INPUT_MEMORY", "250")
    with pytest.raises(DataError, match="9 x 6 pixels would take 270 bytes, more than the 250"):
        reader(tmp_path / "a.png")
