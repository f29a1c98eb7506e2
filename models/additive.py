"""What annealing yields: sums of one-variable responses, linear or piecewise linear (equation 12).

Estimators, the ranker of motions, the classifiers of windows and the stages of an alignment all hold one of
these two models. Coefficients and ranges are in the input's own units; only the selected features are looked
at. A table is gone through in chunks of rows, so that responding needs little memory beside it.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import scipy

from ..features.codes import N_CODES, check_ranges, encode
from ..features.errors import DataError
from .knots import centred, response_tables, sum_responses
from .model_files import ModelFile

CHUNK_VALUES = 1 << 16  # of a table that are looked at together; half a megabyte
SMALLEST_SPAN = 1e-300  # a range whose inverse is finite; a shorter one is taken for a constant


class AdditiveModel(ABC):
    """f(x) = intercept + sum_j f_j(x_j), one function per output and selected feature.

    Attributes
    ----------
    features : ndarray of shape (n_selected,), int64
        Columns of the input.
    intercept : ndarray of shape (n_outputs,), float64
    """

    features: np.ndarray
    intercept: np.ndarray

    def respond(self, X) -> np.ndarray:
        """Return f for each row of a table, shape (n_samples, n_outputs), float64."""
        if scipy.sparse.issparse(X):
            return self._respond_to_rows(X)
        out = np.empty((X.shape[0], len(self.intercept)))
        n_rows = max(1, CHUNK_VALUES // max(1, len(self.features) * len(self.intercept)))
        for start in range(0, len(out), n_rows):
            rows = slice(start, start + n_rows)
            out[rows] = self._respond_to_rows(X[rows])
        return out

    @abstractmethod
    def _respond_to_rows(self, X) -> np.ndarray:
        """Return f for each row, all at once."""

    @abstractmethod
    def terms(self, X: np.ndarray) -> np.ndarray:
        """Return f_j(x_j) for each output, row and selected feature."""

    @abstractmethod
    def rescaled(self, scale: np.ndarray, shift: np.ndarray) -> Self:
        """Return scale * f + shift, one scale and shift per output."""

    @abstractmethod
    def importance(self) -> np.ndarray:
        """Return the norm of each selected feature's coefficients."""

    @abstractmethod
    def to_arrays(self, prefix: str = "") -> dict[str, np.ndarray]:
        """Return the model as the arrays of a model file, their names after `prefix`."""

    def with_features(self, features: np.ndarray) -> Self:
        """Return the model with other numbers for its features, for a table with other columns."""
        return replace(self, features=features)  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class LinearModel(AdditiveModel):
    """f(x) = intercept + sum_j coef_j x_j.

    Attributes
    ----------
    features : ndarray of shape (n_selected,), int64
    coef : ndarray of shape (n_outputs, n_selected), float64
    intercept : ndarray of shape (n_outputs,), float64
    """

    features: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    def __post_init__(self) -> None:
        _check_shape("coef", self.coef, (len(self.intercept), len(self.features)))

    @classmethod
    def from_standardised(cls, features, coef, intercept, mean, scale) -> "LinearModel":
        """Turn a model of (x - mean) / scale into one of x.

        Parameters
        ----------
        features, coef, intercept
            Of the model of standardised columns, shaped as above.
        mean, scale : ndarray of shape (n_selected,), float64
        """
        coef = coef / scale
        return cls(features, coef, intercept - coef @ mean)

    def _respond_to_rows(self, X) -> np.ndarray:
        return np.asarray(X[:, self.features] @ self.coef.T + self.intercept)

    def terms(self, X: np.ndarray) -> np.ndarray:
        """Return coef_j x_j, shape (n_outputs, n_samples, n_selected)."""
        return self.coef[:, None, :] * X[:, self.features]

    def rescaled(self, scale: np.ndarray, shift: np.ndarray) -> "LinearModel":
        return replace(self, coef=self.coef * scale[:, None], intercept=self.intercept * scale + shift)

    def importance(self) -> np.ndarray:
        return np.sqrt(np.sum(self.coef**2, axis=0))

    def to_arrays(self, prefix: str = "") -> dict[str, np.ndarray]:
        names = ("features", "coef", "intercept")
        return {prefix + name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, file: ModelFile, prefix: str = "", *, n_features: int) -> "LinearModel":
        """Read what `to_arrays` wrote, of a table of `n_features` columns, with all checks."""
        features = _read_features(file, prefix, n_features)
        intercept = _read_intercept(file, prefix + "intercept", None)
        shape = len(intercept), len(features)
        return cls(features, file.array(prefix + "coef", dtype=np.float64, shape=shape), intercept)


@dataclass(frozen=True, eq=False)
class PiecewiseModel(AdditiveModel):
    """f(x) = intercept + sum_j g_j(x_j), with g_j linear between knots (section 2.5.1).

    Attributes
    ----------
    features : ndarray of shape (n_selected,), int64
    low, high : ndarray of shape (n_selected,), float32 or float64
        First and last knot; values outside clamp.
    values : ndarray of shape (n_outputs, n_selected, n_bins + 1), float32 or float64
        g_j at equally spaced knots, with mean zero over the training samples. Their dtype is that of the
        tables.
    intercept : ndarray of shape (n_outputs,), float64
    quantised : bool
        Whether a value is first rounded to its code, as in training. Models of version 0.1 were evaluated
        on the line itself; their files say nothing and come back with False.
    """

    features: np.ndarray
    low: np.ndarray
    high: np.ndarray
    values: np.ndarray
    intercept: np.ndarray
    quantised: bool = True

    def __post_init__(self) -> None:
        k = len(self.features)
        if self.values.ndim != 3 or not 2 <= self.values.shape[2] <= N_CODES:
            raise DataError(
                f"a piecewise linear response needs two knots, {N_CODES} at most; "
                f"the values have shape {self.values.shape}"
            )
        _check_shape("values", self.values, (len(self.intercept), k, self.values.shape[2]))
        _check_shape("low", self.low, (k,))
        check_ranges(self.low, self.high)
        if not (np.isfinite(self.values).all() and np.isfinite(self.intercept).all()):
            raise DataError("a response or the intercept of a piecewise linear model is not finite")

    @classmethod
    def from_basis(cls, features, low, high, beta, means, intercept) -> "PiecewiseModel":
        """Make the model of what annealing leaves: coefficients of the basis, which is centred.

        Parameters
        ----------
        features, low, high, intercept
            Shaped as above.
        beta : ndarray of shape (n_outputs, n_selected, n_bins + 1), float64
        means : ndarray of shape (n_selected, n_bins + 1), float64
            Means of the basis functions over the training rows.
        """
        return cls(features, low, high, centred(beta, means), intercept)

    @property
    def n_bins(self) -> int:
        """Bins of each response."""
        return self.values.shape[2] - 1

    @cached_property
    def tables(self) -> np.ndarray:
        """Response of each feature at each code, (n_outputs, n_selected, 256), of the values' dtype."""
        return response_tables(self.values).astype(self.values.dtype)

    def knots(self) -> np.ndarray:
        """Return the knots' positions, shape (n_selected, n_bins + 1)."""
        share = np.linspace(0, 1, self.values.shape[2])
        return self.low[:, None] * (1 - share) + self.high[:, None] * share

    def codes(self, X: np.ndarray) -> np.ndarray:
        """Return the codes of the selected columns, shape (n_selected, n_samples), uint8."""
        return encode(X.T[self.features], self.low, self.high)

    def _respond_to_rows(self, X: np.ndarray) -> np.ndarray:
        if not self.quantised:
            return self.terms(X).sum(axis=2).T + self.intercept
        return self.respond_to_codes(self.codes(X)).T

    def respond_to_codes(self, codes: np.ndarray) -> np.ndarray:
        """Return the sums of the tables' entries, shape (n_outputs, n_samples), of the values' dtype.

        Parameters
        ----------
        codes : ndarray of shape (n_selected, n_samples), uint8
        """
        sums = (sum_responses(t, codes, float(b)) for t, b in zip(self.tables, self.intercept, strict=True))
        return np.stack(list(sums))

    def terms(self, X: np.ndarray) -> np.ndarray:
        """Return g_j(x_j), shape (n_outputs, n_samples, n_selected)."""
        column = np.arange(len(self.features))
        if self.quantised:
            return self.tables[:, column, self.codes(X).T]
        # Half of everything: the difference of two huge numbers would overflow.
        span = self.high / 2 - self.low / 2
        span[span <= SMALLEST_SPAN] = 1.0
        position = np.clip((X[:, self.features] / 2 - self.low / 2) * (self.n_bins / span), 0, self.n_bins)
        knot = np.minimum(position.astype(np.int64), self.n_bins - 1)
        weight = position - knot
        return self.values[:, column, knot] * (1 - weight) + self.values[:, column, knot + 1] * weight

    def rescaled(self, scale: np.ndarray, shift: np.ndarray) -> "PiecewiseModel":
        values = self.values * scale[:, None, None]
        return replace(self, values=values, intercept=self.intercept * scale + shift)

    def reordered(self, order: np.ndarray) -> "PiecewiseModel":
        """Return the model with its features in another order, or with some of them."""
        return replace(
            self,
            features=self.features[order],
            low=self.low[order],
            high=self.high[order],
            values=self.values[:, order],
        )

    def astype(self, dtype) -> "PiecewiseModel":
        """Return the model with ranges and values of a dtype, as the classifiers of windows need it."""
        low, high, values = (a.astype(dtype) for a in (self.low, self.high, self.values))
        return replace(self, low=low, high=high, values=values)

    def importance(self) -> np.ndarray:
        return np.sqrt(np.sum(self.values**2, axis=(0, 2)))

    def to_arrays(self, prefix: str = "") -> dict[str, np.ndarray]:
        names = ("features", "low", "high", "values", "intercept")
        arrays = {prefix + name: getattr(self, name) for name in names}
        return {**arrays, prefix + "quantised": np.array([self.quantised])}

    @classmethod
    def from_arrays(
        cls,
        file: ModelFile,
        prefix: str = "",
        *,
        n_features: int | None = None,
        features: np.ndarray | None = None,
        n_outputs: int | None = None,
    ) -> "PiecewiseModel":
        """Read what `to_arrays` wrote, with all checks.

        Parameters
        ----------
        file : ModelFile
        prefix : str
        n_features : int, optional
            Columns of the table, if the features are numbers in the file.
        features : ndarray of shape (n_selected,), int64, optional
            The features themselves, if the file names them otherwise.
        n_outputs : int, optional
            How many there have to be.
        """
        if features is None:
            assert n_features is not None
            features = _read_features(file, prefix, n_features)
        k = len(features)
        intercept = _read_intercept(file, prefix + "intercept", n_outputs)
        values = file.array(prefix + "values", dtype=np.float64, shape=(len(intercept), k, None))
        low, high = (file.array(prefix + name, dtype=np.float64, shape=(k,)) for name in ("low", "high"))
        quantised = False
        if prefix + "quantised" in file.arrays:
            quantised = bool(file.array(prefix + "quantised", dtype=bool, shape=(1,))[0])
        try:
            return cls(features, low, high, values, intercept, quantised)
        except DataError as error:
            raise DataError(f"model file: {error}") from None


def _read_features(file: ModelFile, prefix: str, n_features: int) -> np.ndarray:
    features = file.array(prefix + "features", dtype=np.int64, shape=(None,))
    ascending = bool(np.all(features[1:] > features[:-1]))  # differences of the farthest numbers wrap
    if len(features) == 0 or features[0] < 0 or features[-1] >= n_features or not ascending:
        raise DataError(f"model file: features must be ascending numbers from 0 to {n_features - 1}")
    return features


def _read_intercept(file: ModelFile, name: str, n_outputs: int | None) -> np.ndarray:
    intercept = file.array(name, dtype=np.float64, shape=(n_outputs,))
    if len(intercept) == 0:
        raise DataError(f"model file: array {name!r} is empty, a model has at least one output")
    return intercept


def _check_shape(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise DataError(f"{name} of a model has shape {array.shape}, expected {shape}")
