"""Photos of any common kind into (H, W, 3) uint8 RGB arrays, as a viewer shows them."""

import os
import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps
from PIL.TiffImagePlugin import IMAGEWIDTH, TiffImageFile

from ...features.errors import DataError
from ..limits import check_memory

FORMATS = ("JPEG", "PNG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
"""What Pillow may open, by content: rasters that it decodes itself. Others, such as EPS, start a program."""

BYTES_PER_PIXEL = 5
"""About what a photo takes while it is read, against the budget of `limits`."""

EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
_EXIF_ORIENTATION = 0x0112
_SIDEWAYS = (5, 6, 7, 8)


def read_image(path: str | os.PathLike) -> np.ndarray:
    """Read a photo as a viewer shows it.

    EXIF orientation is applied. Grey, palette, CMYK and 16-bit pictures are converted, transparent
    ones are laid on white, of animated ones the first frame is taken.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ndarray of shape (H, W, 3), uint8
        RGB, C-contiguous.

    Raises
    ------
    DataError
        If the file is missing, not a picture, truncated or larger than its budget of memory.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns of odd metadata; the pixels are what counts
        try:
            with _open(path) as picture:
                ImageOps.exif_transpose(picture, in_place=True)
                return np.ascontiguousarray(_to_rgb(picture))
        except DataError:
            raise
        # What Pillow raises on a damaged file depends on the format and on where the damage is.
        except Exception as error:
            raise DataError(f"{path}: cannot be read as a picture ({error})") from None


def read_image_size(path: str | os.PathLike) -> tuple[int, int]:
    """Return (height, width) of a photo as a viewer shows it, from its header alone.

    Raises
    ------
    DataError
        If the file is missing, not a picture or larger than its budget of memory.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with _open(path) as picture:
                width, height = _upright_size(picture)
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"{path}: cannot be read as a picture ({error})") from None
    return height, width


def _upright_size(picture: Image.Image) -> tuple[int, int]:
    """Width and height once EXIF orientation is applied."""
    width, height = picture.size
    sideways = picture.getexif().get(_EXIF_ORIENTATION) in _SIDEWAYS
    if isinstance(picture, TiffImageFile):
        # From Pillow 11 on the TIFF reader has turned the size already, but not what the file says.
        sideways = sideways and picture.tag_v2.get(IMAGEWIDTH) == width
    return (height, width) if sideways else (width, height)


def _open(path: str | os.PathLike) -> Image.Image:
    try:
        there = Path(path).is_file()
    except OSError as error:  # such as a name that is too long
        raise DataError(f"{shortened(path)}: {error.strerror}") from None
    if not there:
        raise DataError(f"{shortened(path)}: no such photo")
    try:
        picture = Image.open(path, formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise DataError(f"{path}: {error}; PIL.Image.MAX_IMAGE_PIXELS is that limit") from None
    except Image.UnidentifiedImageError:
        raise DataError(f"{path}: not a picture of a kind that is read ({', '.join(FORMATS)})") from None
    width, height = picture.size
    try:
        check_memory(path, BYTES_PER_PIXEL * width * height, f"a picture of {width} x {height} pixels")
    except DataError:
        picture.close()
        raise
    return picture


def is_there(path: Path) -> bool:
    """Whether there is a file or folder; the name comes from a file, and may be one that none can have."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def shortened(path: str | os.PathLike, most: int = 200) -> str:
    """Return a path for a message, without the middle of one that is very long."""
    text = os.fspath(path)
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 2 :]}"


def _to_rgb(picture: Image.Image) -> np.ndarray:
    if picture.mode.startswith("I") or picture.mode == "F":
        return np.repeat(_deep_grey(np.asarray(picture))[..., None], 3, axis=2)
    if "transparency" in picture.info or picture.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        layer = picture.convert("RGBA")
        paper = Image.new("RGBA", layer.size, "white")
        picture = Image.alpha_composite(paper, layer)
    return np.asarray(picture if picture.mode == "RGB" else picture.convert("RGB"))


def _deep_grey(values: np.ndarray) -> np.ndarray:
    """Grey values of more than 8 bits as uint8; integers span 0..65535, floats [0, 1] or [0, 255]."""
    if np.issubdtype(values.dtype, np.floating):
        if not np.isfinite(values).all():
            raise ValueError("grey values that are not finite")
        scale = 255.0 if values.max(initial=0.0) <= 1.0 else 1.0
    else:
        scale = 1 / 257
    return np.clip(np.rint(values.astype(np.float64) * scale), 0, 255).astype(np.uint8)
