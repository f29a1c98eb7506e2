"""Values as codes of one byte: the position in the feature's own range, in 255 steps (section 2.5.1).

The only quantiser of the package. Pixel features are float32 and become codes inside the kernels that compute
them (`quantise`); the columns of a table are float64 or float32 and become codes all at once (`encode`).
"""

import numpy as np
from numba import njit

from .errors import DataError
from .jit import LEAF
from .threads import share

N_CODES = 256
CODE_MAX = N_CODES - 1

_HALF = np.float32(0.5)
_NARROWEST = {np.dtype(np.float32): np.float32(1e-30), np.dtype(np.float64): np.float64(1e-300)}
"""Widths whose inverse is finite; a narrower range is taken for a constant."""
_TASK_VALUES = 1 << 17  # that are worth a task of their own


def check_ranges(low, high) -> None:
    """Accept the ranges of features: finite, two arrays (n_features,), none that ends before it begins."""
    if low.shape != high.shape or low.ndim != 1:
        raise DataError(
            f"low has shape {low.shape} and high {high.shape}; accepted are two (n_features,) arrays"
        )
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise DataError("low and high must be finite, with low <= high")


def code_scale(lo, hi, dtype=np.float32):
    """Return lo, hi and the factor that turns a value above lo into a code, all of one dtype.

    A feature that never varies, or too little for the dtype to tell, has factor 0: all its codes are 0.
    """
    lo, hi = np.asarray(lo, dtype=dtype), np.asarray(hi, dtype=dtype)
    check_ranges(lo, hi)
    width = hi - lo
    steps = lo.dtype.type(CODE_MAX)
    return lo, hi, np.divide(steps, width, out=np.zeros_like(width), where=width > _NARROWEST[lo.dtype])


@njit(**LEAF)
def code_of(value, lo, hi, scale):
    """Return the code of a value: its rounded position in the range, clamped."""
    value = value if value > lo else lo
    value = value if value < hi else hi
    return np.uint8(np.int32((value - lo) * scale + _HALF))


@njit(**LEAF)
def quantise(values, lo, hi, scale, n, out, f, first):
    """Write the codes of n values of one feature to out[f, first : first + n]."""
    f, first = np.uintp(f), np.uintp(first)
    for k in range(n):
        i = np.uintp(k)
        out[f, first + i] = code_of(values[i], lo, hi, scale)


def encode(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Turn the columns of a table into codes; values outside [low, high] clamp.

    Parameters
    ----------
    values : ndarray of shape (n_features, n_rows), float
    low, high : ndarray of shape (n_features,), float
        A feature with low == high, or as good as that, has the code 0 throughout.

    Returns
    -------
    ndarray of shape (n_features, n_rows), uint8
    """
    codes = np.empty(values.shape, dtype=np.uint8)
    # Half of everything: the difference of two huge numbers would overflow.
    low, high = np.asarray(low, np.float64) / 2, np.asarray(high, np.float64) / 2
    low, high, scale = code_scale(low, high, np.float64)
    values = np.ascontiguousarray(values)
    share(
        len(values),
        lambda first, last: _encode(values, low, high, scale, first, last, codes),
        least=_TASK_VALUES // max(1, values.shape[1]),
    )
    return codes


@njit(cache=True, nogil=True)
def _encode(values, low, high, scale, first, last, codes):
    """Fill the codes of some features; the ranges are those of the halved values."""
    for j in range(first, last):
        for i in range(values.shape[1]):
            codes[j, i] = code_of(0.5 * values[j, i], low[j], high[j], scale[j])
