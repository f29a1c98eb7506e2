"""Models of tables without the rest of the package: reads a model file and predicts, with NumPy alone.

This file needs numpy and safetensors, nothing else, and may be copied beside a model. It reads what `save` of
`FSAClassifier`, `FSARegressor` and `FSARanker` writes, and gives the same numbers.

>>> from annealed import runtime
>>> model = runtime.load("model.safetensors")  # doctest: +SKIP
>>> model.predict(X)  # doctest: +SKIP
"""

import json
import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from safetensors import SafetensorError, safe_open

FORMAT_VERSION = 1
ESTIMATORS = {"FSAClassifier": "classifier", "FSARegressor": "regressor", "FSARanker": "ranker"}
LARGEST_CODE = 255  # a value of a quantised model is rounded to one of 256
NARROWEST = 1e-300  # width of a range; a narrower one is a constant


class Responses(Protocol):
    """A sum of functions of single columns, or of pairs."""

    def respond(self, X: np.ndarray) -> np.ndarray:
        """Return f for each row, shape (n_samples, n_outputs)."""
        ...


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted estimator, as far as it predicts.

    Attributes
    ----------
    kind : {"classifier", "regressor", "ranker"}
    n_features : int
    feature_names : list of str
        Empty where the training table had none.
    responses : Responses
    classes : ndarray or None
    ramp : ndarray of shape (3,) or None
        How probabilities follow from responses.
    one_target : bool
        Whether a regressor's prediction has shape (n_samples,).
    """

    kind: str
    n_features: int
    feature_names: list[str]
    responses: Responses
    classes: np.ndarray | None = None
    ramp: np.ndarray | None = None
    one_target: bool = True

    def respond(self, X) -> np.ndarray:
        """Return the response of each row to each output, shape (n_samples, n_outputs)."""
        X = np.asarray(X)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X has shape {X.shape}; accepted is (n_samples, {self.n_features})")
        return self.responses.respond(X)

    def decision_function(self, X) -> np.ndarray:
        """Return (n_samples,) for two classes or one output, else (n_samples, n_outputs)."""
        response = self.respond(X)
        return response[:, 0] if response.shape[1] == 1 else response

    def predict(self, X) -> np.ndarray:
        """Return classes, values, or what to rank by, the larger the better."""
        response = self.respond(X)
        if self.classes is not None:
            one = response.shape[1] == 1
            return self.classes[(response[:, 0] > 0).astype(int) if one else response.argmax(axis=1)]
        return response[:, 0] if self.one_target or self.kind == "ranker" else response

    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        if self.ramp is None:
            raise ValueError("this model gives no probabilities")
        f = self.respond(X)
        logit = np.tensordot(self.ramp, np.stack([np.minimum(f, 0), np.maximum(f, 0), np.ones_like(f)]), 1)
        log_probability = -np.logaddexp(0, -logit)
        if logit.shape[1] == 1:
            return np.exp(np.hstack([-np.logaddexp(0, logit), log_probability]))
        # Normalised by the largest one first: all may be too small to be told from zero.
        probability = np.exp(log_probability - log_probability.max(axis=1, keepdims=True))
        return probability / probability.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class LinearResponses:
    """intercept + sum_j coef_j x_j."""

    features: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    def respond(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X[:, self.features] @ self.coef.T + self.intercept)


@dataclass(frozen=True, eq=False)
class PiecewiseResponses:
    """intercept + sum_j g_j(x_j), g_j linear between equally spaced knots.

    Attributes
    ----------
    low, high : ndarray of shape (n_selected,), float64
    values : ndarray of shape (n_outputs, n_selected, n_bins + 1), float64
    quantised : bool
        Whether a value is first rounded to its code.
    """

    features: np.ndarray
    low: np.ndarray
    high: np.ndarray
    values: np.ndarray
    intercept: np.ndarray
    quantised: bool

    def respond(self, X: np.ndarray) -> np.ndarray:
        n_bins = self.values.shape[2] - 1
        # Half of everything: the difference of two huge numbers would overflow.
        low, high = self.low / 2, self.high / 2
        width = high - low
        clipped = np.clip(X[:, self.features].astype(np.float64) * 0.5, low, high) - low
        if self.quantised:
            scale = np.divide(LARGEST_CODE, width, out=np.zeros_like(width), where=width > NARROWEST)
            scaled = (clipped * scale + 0.5).astype(np.int64) * n_bins
            knot = np.minimum(scaled // LARGEST_CODE, n_bins - 1)
            share = scaled / LARGEST_CODE - knot
        else:
            position = np.clip(clipped * (n_bins / np.where(width > NARROWEST, width, 1.0)), 0, n_bins)
            knot = np.minimum(position.astype(np.int64), n_bins - 1)
            share = position - knot
        total = np.repeat(self.intercept[:, None], len(X), axis=1)
        for j in range(len(self.features)):
            below, above = self.values[:, j, knot[:, j]], self.values[:, j, knot[:, j] + 1]
            total += below + share[:, j] * (above - below)
        return total.T


@dataclass(frozen=True, eq=False)
class CurveResponses:
    """intercept + sum of curves of one column and of surfaces over two, each with knots of its own.

    Attributes
    ----------
    terms : list of (axes, values)
        An axis is (column, knots, whether it is a category); the last value along it is that of what is
        missing. Values have shape (n_outputs, n_knots + 1) or (n_outputs, n_knots + 1, n_knots + 1).
    """

    terms: list[tuple[list[tuple[int, np.ndarray, bool]], np.ndarray]]
    intercept: np.ndarray

    def respond(self, X: np.ndarray) -> np.ndarray:
        total = np.repeat(self.intercept[:, None], len(X), axis=1)
        for axes, values in self.terms:
            # Interpolated along the last axis first, one row of the surface at a time.
            places = [_locate(X[:, j].astype(np.float64), knots, kind) for j, knots, kind in axes]
            total += _look_up(values, places)
        return total.T


def _locate(x: np.ndarray, knots: np.ndarray, is_category: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the knot at or below each value (their number for what is missing), and the part beyond it."""
    last = len(knots) - 1
    share = np.zeros(len(x))
    if is_category:
        place = np.minimum(np.searchsorted(knots, x), last)
        return np.where(knots[place] == x, place, last + 1), share
    place = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, last)
    inside = (x > knots[0]) & (x < knots[last])
    low, high = knots[place[inside]], knots[place[inside] + 1]
    share[inside] = (0.5 * x[inside] - 0.5 * low) / (0.5 * high - 0.5 * low)
    return np.where(np.isnan(x), last + 1, place), share


def _look_up(values: np.ndarray, places: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Interpolate values (n_outputs, ...) at places along each axis; return (n_outputs, n_samples)."""
    a, share = places[0]
    next_a = np.where(share > 0, a + 1, a)
    if len(places) == 1:
        return values[:, a] + share * (values[:, next_a] - values[:, a])
    b, share_b = places[1]
    next_b = np.where(share_b > 0, b + 1, b)
    below = values[:, a, b] + share_b * (values[:, a, next_b] - values[:, a, b])
    above = values[:, next_a, b] + share_b * (values[:, next_a, next_b] - values[:, next_a, b])
    return below + share * (above - below)


def load(path: str | os.PathLike) -> TableModel:
    """Read a model file of a table.

    Raises
    ------
    ValueError
        It is none, of another format version, or of another kind.
    """
    if not os.path.isfile(path):
        raise ValueError(f"{path}: no such model file")
    try:
        with safe_open(path, framework="numpy") as file:
            document = json.loads((file.metadata() or {})["annealed"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        if document["format_version"] != FORMAT_VERSION:
            raise ValueError(f"format version {document['format_version']}; accepted is {FORMAT_VERSION}")
        if document["kind"] != "estimator":
            raise ValueError(f"holds a {document['kind']}, not a model of a table")
        return _table_model(arrays, document)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{path}: not a model of a table that can be read here ({error})") from None


def _table_model(arrays: dict[str, np.ndarray], document: dict[str, Any]) -> TableModel:
    n_features = len(arrays["ranking"])
    responses = _responses(arrays)
    columns = (
        np.array([a for axes, _ in responses.terms for a, *_ in axes])
        if isinstance(responses, CurveResponses)
        else responses.features
    )
    if len(columns) and not (columns.min() >= 0 and columns.max() < n_features):
        raise ValueError(f"features must be numbers from 0 to {n_features - 1}")
    classes, ramp = document.get("classes"), arrays.get("ramp")
    if ramp is None and document.get("loss") == "logistic":
        ramp = np.array([1.0, 1.0, 0.0])  # files of version 0.1: responses are log odds
    return TableModel(
        kind=ESTIMATORS[document["estimator"]],
        n_features=n_features,
        feature_names=list(document.get("feature_names") or []),
        responses=responses,
        classes=None if classes is None else np.array(classes),
        ramp=ramp,
        one_target=bool(document.get("one_target", True)),
    )


def _responses(arrays: dict[str, np.ndarray]) -> LinearResponses | PiecewiseResponses | CurveResponses:
    if "term_axes" in arrays:
        return CurveResponses(_terms(arrays), arrays["intercept"])
    if "values" in arrays:
        names = ("features", "low", "high", "values", "intercept")
        quantised = "quantised" in arrays and bool(arrays["quantised"][0])
        return PiecewiseResponses(**{name: arrays[name] for name in names}, quantised=quantised)
    return LinearResponses(**{name: arrays[name] for name in ("features", "coef", "intercept")})


def _terms(arrays: dict[str, np.ndarray]) -> list:
    """Cut the joined arrays of a file into terms."""
    n_outputs = len(arrays["intercept"])
    ends = np.concatenate([[0], np.cumsum(arrays["axis_knots"])]).tolist()
    axes = [
        (int(column), arrays["knots"][first:last], bool(is_category))
        for column, is_category, (first, last) in zip(
            arrays["axis_features"], arrays["axis_kinds"], pairwise(ends), strict=True
        )
    ]
    terms, first, start = [], 0, 0
    for n_axes in arrays["term_axes"].tolist():
        of_term = axes[first : first + n_axes]
        shape = (n_outputs, *(len(knots) + 1 for _, knots, _ in of_term))
        stop = start + int(np.prod(shape))
        terms.append((of_term, arrays["term_values"][start:stop].reshape(shape)))
        first, start = first + n_axes, stop
    return terms
