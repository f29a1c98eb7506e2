"""Values as codes of one byte: the position in the feature's own range, in 255 steps (section 2.5.1)."""

import numpy as np
from numba import njit

from .errors import DataError
from .jit import LEAF

CODE_MAX = 255

_HALF = np.float32(0.5)
_NARROWEST = np.float32(1e-30)


def code_scale(lo, hi):
    """Return lo, hi and the factor that turns a value above lo into a code, all float32.

    A feature that never varies, or too little for float32 to tell, has factor 0: all its codes are 0.
    """
    lo, hi = np.asarray(lo, dtype=np.float32), np.asarray(hi, dtype=np.float32)
    if lo.shape != hi.shape or lo.ndim != 1:
        raise DataError(f"lo has shape {lo.shape} and hi {hi.shape}; accepted are two (n_features,) arrays")
    if not (np.isfinite(lo).all() and np.isfinite(hi).all() and (lo <= hi).all()):
        raise DataError("lo and hi must be finite, with lo <= hi")
    width = hi - lo
    return lo, hi, np.divide(np.float32(CODE_MAX), width, out=np.zeros_like(width), where=width > _NARROWEST)


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
