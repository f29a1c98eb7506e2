"""Motions between two frames, from as few points as fix them: affine map, homography, fundamental matrix.

R. Hartley, A. Zisserman. Multiple View Geometry in Computer Vision, 2nd edition, 2004: sections 4.1 and 11.1
(linear equations of a homography and of a fundamental matrix), 4.2 and 11.4 (transfer and Sampson errors).
"""

import numpy as np
from numba import njit

SAMPLE_SIZES = {"affine": 3, "homography": 4, "fundamental": 8}
_KINDS = {"affine": 0, "homography": 1, "fundamental": 2}
_TINY = 1e-12


def hypothesis_residuals(
    model: str, before: np.ndarray, after: np.ndarray, samples: np.ndarray
) -> np.ndarray:
    """Fit a motion to each sample of points and return how far it is from every point.

    Parameters
    ----------
    model : {"affine", "homography", "fundamental"}
    before, after : ndarray of shape (P, 2)
        The points in two frames, best scaled to around one.
    samples : ndarray of shape (H, n), int
        Points of each sample, n as `SAMPLE_SIZES` says.

    Returns
    -------
    ndarray of shape (P, H), float64
        Squared transfer error into the second frame, or the squared Sampson error of a fundamental matrix;
        infinite for a sample that fixes nothing, as of points on a line.
    """
    residuals = np.empty((len(samples), len(before)))
    _all_residuals(_KINDS[model], before, after, samples, residuals)
    return residuals.T


@njit(cache=True, nogil=True)
def _all_residuals(kind, before, after, samples, residuals):
    for h in range(len(samples)):
        matrix = _fitted(kind, before[samples[h]], after[samples[h]])
        if kind == 2:
            _sampson_errors(matrix, before, after, residuals[h])
        else:
            _transfer_errors(matrix, before, after, residuals[h])


@njit(cache=True, nogil=True)
def _fitted(kind, before, after):
    """The 3 x 3 matrix, row by row, that fits a minimal sample; all NaN for a degenerate one."""
    n = len(before)
    equations = np.zeros((8, 9))
    for i in range(n):
        x, y = before[i]
        u, v = after[i]
        if kind == 2:
            equations[i] = np.array([u * x, u * y, u, v * x, v * y, v, x, y, 1.0])
        else:
            equations[2 * i] = np.array([x, y, 1.0, 0.0, 0.0, 0.0, -u * x, -u * y, -u])
            equations[2 * i + 1] = np.array([0.0, 0.0, 0.0, x, y, 1.0, -v * x, -v * y, -v])
    if kind == 0:  # the last row is (0, 0, 1)
        equations[6, 6] = 1.0
        equations[7, 7] = 1.0
    return _null_vector(equations)


@njit(cache=True, nogil=True)
def _null_vector(a):
    """The vector that an 8 x 9 matrix takes to zero, by elimination with full pivoting (changes `a`)."""
    order = np.arange(9)
    for k in range(8):
        row, column, largest = k, k, 0.0
        for i in range(k, 8):
            for j in range(k, 9):
                if abs(a[i, j]) > largest:
                    row, column, largest = i, j, abs(a[i, j])
        if largest < _TINY:
            return np.full(9, np.nan)
        for j in range(9):
            a[k, j], a[row, j] = a[row, j], a[k, j]
        for i in range(8):
            a[i, k], a[i, column] = a[i, column], a[i, k]
        order[k], order[column] = order[column], order[k]
        for i in range(k + 1, 8):
            factor = a[i, k] / a[k, k]
            for j in range(k, 9):
                a[i, j] -= factor * a[k, j]
    found = np.empty(9)
    found[order[8]] = 1.0
    for k in range(7, -1, -1):
        total = a[k, 8]
        for j in range(k + 1, 8):
            total += a[k, j] * found[order[j]]
        found[order[k]] = -total / a[k, k]
    return found


@njit(cache=True, nogil=True)
def _transfer_errors(m, before, after, errors):
    for i in range(len(before)):
        x, y = before[i]
        w = m[6] * x + m[7] * y + m[8]
        if not abs(w) > _TINY:
            errors[i] = np.inf
            continue
        dx = (m[0] * x + m[1] * y + m[2]) / w - after[i, 0]
        dy = (m[3] * x + m[4] * y + m[5]) / w - after[i, 1]
        errors[i] = dx * dx + dy * dy


@njit(cache=True, nogil=True)
def _sampson_errors(m, before, after, errors):
    for i in range(len(before)):
        x, y = before[i]
        u, v = after[i]
        a = m[0] * x + m[1] * y + m[2]
        b = m[3] * x + m[4] * y + m[5]
        c = m[6] * x + m[7] * y + m[8]
        d = m[0] * u + m[3] * v + m[6]
        e = m[1] * u + m[4] * v + m[7]
        slope = a * a + b * b + d * d + e * e
        errors[i] = (u * a + v * b + c) ** 2 / slope if slope > _TINY * _TINY else np.inf
