"""Photos of any common kind into (H, W, 3) uint8 RGB arrays, as a viewer shows them."""

import os
import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from ...features.errors import DataError

MAX_PIXELS = 100_000_000
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
        If the file is missing, not a picture, truncated or larger than `MAX_PIXELS`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns of odd metadata; the pixels are what counts
        try:
            with _open(path) as picture:
                upright = ImageOps.exif_transpose(picture)
                return np.ascontiguousarray(_to_rgb(upright))
        except DataError:
            raise
        except (
            OSError,
            ValueError,
            SyntaxError,
            EOFError,
            ArithmeticError,
            LookupError,
            MemoryError,
        ) as error:
            raise DataError(f"{path}: cannot be read as a picture ({error})") from None


def read_image_size(path: str | os.PathLike) -> tuple[int, int]:
    """Return (height, width) of a photo as a viewer shows it, from its header alone.

    Raises
    ------
    DataError
        If the file is missing, not a picture or larger than `MAX_PIXELS`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with _open(path) as picture:
                width, height = picture.size
                sideways = picture.getexif().get(_EXIF_ORIENTATION) in _SIDEWAYS
        except DataError:
            raise
        except (OSError, ValueError, SyntaxError, EOFError, ArithmeticError, LookupError) as error:
            raise DataError(f"{path}: cannot be read as a picture ({error})") from None
    return (width, height) if sideways else (height, width)


def _open(path: str | os.PathLike) -> Image.Image:
    if not Path(path).is_file():
        raise DataError(f"{path}: no such photo")
    try:
        picture = Image.open(path)
    except Image.DecompressionBombError:
        raise DataError(f"{path}: larger than {MAX_PIXELS // 10**6} million pixels") from None
    except Image.UnidentifiedImageError:
        raise DataError(f"{path}: not a picture that Pillow can read") from None
    width, height = picture.size
    if width * height > MAX_PIXELS:
        picture.close()
        raise DataError(
            f"{path}: {width} x {height} pixels, more than the {MAX_PIXELS // 10**6} million accepted"
        )
    return picture


def _to_rgb(picture: Image.Image) -> np.ndarray:
    if picture.mode.startswith("I") or picture.mode == "F":
        return np.repeat(_deep_grey(np.asarray(picture))[..., None], 3, axis=2)
    if "transparency" in picture.info or picture.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        layer = picture.convert("RGBA")
        paper = Image.new("RGBA", layer.size, "white")
        picture = Image.alpha_composite(paper, layer)
    return np.asarray(picture.convert("RGB"))


def _deep_grey(values: np.ndarray) -> np.ndarray:
    """Grey values of more than 8 bits as uint8; integers span 0..65535, floats [0, 1] or [0, 255]."""
    if np.issubdtype(values.dtype, np.floating):
        if not np.isfinite(values).all():
            raise ValueError("grey values that are not finite")
        scale = 255.0 if values.max(initial=0.0) <= 1.0 else 1.0
    else:
        scale = 1 / 257
    return np.clip(np.rint(values.astype(np.float64) * scale), 0, 255).astype(np.uint8)
