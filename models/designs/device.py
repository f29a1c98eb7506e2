"""Designs on a GPU: the same kernels' sums over an array module, CuPy there and NumPy in the tests.

    with annealed.on_device():
        FSAClassifier(k=100).fit(X, y)

Atomic additions of floats come in no fixed order on a GPU, and then a run repeated would not give the same
model. So everything is added up as whole numbers (fixed point, int64), whose sums do not depend on the order.
A kernel's launch costs some microseconds whatever it does: once few features are left, the design goes back
to memory and the CPU goes on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...features.codes import N_CODES
from ...features.errors import DataError
from .binned import BinnedDesign
from .dense import DenseDesign
from .design import Design, ResidentDesign

LEAST_VISITS = 1 << 22  # (row, feature) pairs of all rows; with fewer, launches cost more than they save
FRACTION_BITS = 52  # of the largest sum that may come; the rest of 63 is room for rounding
CHUNK_VALUES = 1 << 24  # of products that are there at a time
EXTRA = "a GPU needs the package cupy: pip install 'annealed[cuda]'"

_module: ContextVar[Any] = ContextVar("annealed_device_module", default=None)


@contextmanager
def on_device(xp: Any = None) -> Iterator[None]:
    """Let dense and binned designs of fits within this context be on a GPU, as long as that is quicker.

    Models are those of the CPU up to rounding, and the same to the last bit when a fit is repeated.

    Parameters
    ----------
    xp : module, optional
        CuPy by default; NumPy stands in for it where there is no GPU, for tests.
    """
    token = _module.set(_cupy() if xp is None else xp)
    try:
        yield
    finally:
        _module.reset(token)


def _cupy() -> Any:
    try:
        import cupy
    except ImportError:
        raise DataError(EXTRA) from None
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DataError(f"no GPU can be used ({error})") from None
    if n_devices == 0:
        raise DataError("there is no GPU")
    return cupy


def moved(design: Design) -> Design:
    """Return a design on the context's device, if there is one and it pays, otherwise the same design."""
    xp = _module.get()
    is_known = type(design) is DenseDesign or type(design) is BinnedDesign
    if xp is None or not is_known or not isinstance(design, DenseDesign | BinnedDesign):
        return design
    if design.n_rows * design.n_features < LEAST_VISITS:
        return design
    return DeviceDesign(design, xp)


class DeviceDesign(ResidentDesign):
    """A dense or binned design on a device, until few features are left.

    Parameters
    ----------
    design : DenseDesign or BinnedDesign
        In memory. It keeps its numbers, and forgets the same features.
    xp : module
        CuPy or NumPy.

    Attributes
    ----------
    is_on_device : bool
    """

    def __init__(self, design: DenseDesign | BinnedDesign, xp: Any) -> None:
        self.n_rows, self.n_features = design.n_rows, design.n_features
        self.n_coefficients = design.n_coefficients
        self._design = design
        self._sums: _Sums | None
        self._sums = _DenseSums(design, xp) if isinstance(design, DenseDesign) else _CodeSums(design, xp)

    @property
    def is_on_device(self) -> bool:
        return self._sums is not None

    def keep(self, indices: np.ndarray) -> None:
        self._design.keep(indices)
        self.n_features = len(indices)
        if self._sums is not None:
            self._sums.keep(indices)
            if self.n_rows * self.n_features < LEAST_VISITS:
                self._sums = None

    def response(self, beta: np.ndarray, intercept: np.ndarray, start: int, stop: int) -> np.ndarray:
        if self._sums is None:
            return self._design.response(beta, intercept, start, stop)
        return self._sums.response(beta, intercept, start, stop)

    def gradient(self, residual: np.ndarray, start: int, stop: int) -> np.ndarray:
        if self._sums is None:
            return self._design.gradient(residual, start, stop)
        return self._sums.gradient(residual, start, stop)

    def descend(self, loss, penalty, batches, iterate, step, guard) -> tuple[float, float]:
        if self._sums is None:
            return self._design.descend(loss, penalty, batches, iterate, step, guard)
        return super().descend(loss, penalty, batches, iterate, step, guard)

    def to_model(self, kept: np.ndarray, beta: np.ndarray, intercept: np.ndarray):
        return self._design.to_model(kept, beta, intercept)


class _Sums:
    """Sums on a device; `values` are (n_features, n_rows)."""

    def __init__(self, values: np.ndarray, xp: Any) -> None:
        self.xp = xp
        self.values = xp.asarray(values)

    def keep(self, indices: np.ndarray) -> None:
        self.values = self.values[self.xp.asarray(indices)]

    def response(self, beta, intercept, start, stop) -> np.ndarray:
        raise NotImplementedError

    def gradient(self, residual, start, stop) -> np.ndarray:
        raise NotImplementedError

    def chunks(self, width: int) -> Iterator[slice]:
        """Yield ranges of features whose products of so many rows fit."""
        step = max(1, CHUNK_VALUES // max(1, width))
        for first in range(0, len(self.values), step):
            yield slice(first, first + step)

    def fixed(self, bound: float, products: Callable[[], Any]) -> tuple[float, Any]:
        """Return products as whole numbers, and the unit of these; no sum of them may exceed `bound`."""
        unit = 2.0 ** (np.ceil(np.log2(bound)) - FRACTION_BITS) if bound > 0 else 1.0
        return unit, self.xp.rint(products() / unit).astype(self.xp.int64)


class _DenseSums(_Sums):
    def __init__(self, design: DenseDesign, xp: Any) -> None:
        super().__init__(design.columns.values[design.columns.kept], xp)
        self.largest = np.abs(design.columns.values[design.columns.kept]).max(axis=1).astype(np.float64)

    def keep(self, indices):
        super().keep(indices)
        self.largest = self.largest[indices]

    def response(self, beta, intercept, start, stop):
        xp, out = self.xp, np.empty((len(beta), stop - start))
        for o, of_output in enumerate(beta[:, :, 0]):
            bound, coef = float(np.abs(of_output) @ self.largest), xp.asarray(of_output)
            total, unit = xp.zeros(stop - start, dtype=xp.int64), 1.0
            for some in self.chunks(stop - start):
                values = self.values[some, start:stop]
                unit, whole = self.fixed(bound, lambda: coef[some, None] * values)  # noqa: B023
                total += whole.sum(axis=0)
            out[o] = intercept[o] + unit * to_host(total)
        return out

    def gradient(self, residual, start, stop):
        xp, out = self.xp, np.empty((len(residual), len(self.values), 1))
        for o, of_output in enumerate(residual):
            weight, size = xp.asarray(of_output), float(np.abs(of_output).sum())
            for some in self.chunks(stop - start):
                bound = size * float(self.largest[some].max())
                values = self.values[some, start:stop]
                unit, whole = self.fixed(bound, lambda: values * weight)  # noqa: B023
                out[o, some, 0] = unit * to_host(whole.sum(axis=1))
        return out


class _CodeSums(_Sums):
    def __init__(self, design: BinnedDesign, xp: Any) -> None:
        super().__init__(design.codes(), xp)
        self.means = design.means
        self.scale = design.scale
        self.basis = _basis(*design.knots)

    def keep(self, indices):
        super().keep(indices)
        self.means = self.means[indices]
        if self.scale is not None:
            self.scale = self.scale[indices]

    def response(self, beta, intercept, start, stop):
        xp, out = self.xp, np.empty((len(beta), stop - start))
        if self.scale is not None:
            beta = beta * self.scale
        base = intercept - np.einsum("ojk,jk->o", beta, self.means)
        for o in range(len(beta)):
            tables = beta[o] @ self.basis  # (n_features, 256)
            bound = float(np.abs(tables).max(axis=1).sum())
            total, unit = xp.zeros(stop - start, dtype=xp.int64), 1.0
            for some in self.chunks(stop - start):
                unit, whole = self.fixed(bound, lambda: xp.asarray(tables[some]))  # noqa: B023
                codes = self.values[some, start:stop].astype(xp.int64)
                total += xp.take_along_axis(whole, codes, axis=1).sum(axis=0)
            out[o] = base[o] + unit * to_host(total)
        return out

    def gradient(self, residual, start, stop):
        xp, out = self.xp, np.empty((len(residual), len(self.values), len(self.basis)))
        for o, of_output in enumerate(residual):
            unit, whole = self.fixed(
                float(np.abs(of_output).sum()),
                lambda: xp.asarray(of_output),  # noqa: B023
            )
            for some in self.chunks(stop - start):
                codes = self.values[some, start:stop].astype(xp.int64)
                n = len(codes)
                places = codes + N_CODES * xp.arange(n)[:, None]
                # CuPy adds unsigned numbers only; these go round as signed ones do.
                histogram = xp.zeros(n * N_CODES, dtype=xp.uint64)
                terms = xp.broadcast_to(whole.view(xp.uint64), codes.shape)
                xp.add.at(histogram, places.ravel(), terms.ravel())
                out[o, some] = unit * to_host(histogram.view(xp.int64)).reshape(n, N_CODES) @ self.basis.T
        out -= residual.sum(axis=1)[:, None, None] * self.means
        return out if self.scale is None else out * self.scale


def _basis(first_codes: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Return the value of each knot's hat function at each code, shape (n_coefficients, 256)."""
    out = np.zeros((len(first_codes), N_CODES))
    for k in range(len(first_codes) - 1):
        codes = np.arange(first_codes[k], first_codes[k + 1])
        out[k, codes] += 1 - position[codes]
        out[k + 1, codes] += position[codes]
    return out


def to_host(array) -> np.ndarray:
    """Return an array of either module in memory."""
    return array.get() if hasattr(array, "get") else array
