"""Changing models of curves: leaving terms out, and averaging several models."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ..features.errors import ParameterError
from .curves import Axis, CurveModel, Term


def without_terms(model: CurveModel, terms: Collection[tuple[int, ...]]) -> CurveModel:
    """Return the model without the terms of these features; every other response stays as it is."""
    known = {term.features for term in model.curves}
    unknown = [features for features in terms if features not in known]
    if unknown:
        raise ParameterError(f"there is no term of the features {unknown[0]}; there are {sorted(known)}")
    return replace(model, curves=tuple(term for term in model.curves if term.features not in terms))


def average(models: Sequence[CurveModel]) -> CurveModel:
    """Return the model whose response is the mean of those of several, exactly.

    A term that a model lacks counts as zero there. A mean of piecewise linear curves has the knots of all; a
    category that a model does not know has the response that the model gives it, that of a missing value.
    """
    keys = sorted({term.features for model in models for term in model.curves}, key=lambda f: (len(f), f))
    alike = [[term for model in models for term in model.curves if term.features == key] for key in keys]
    terms = [_average_term(same, len(models)) for same in alike]
    return CurveModel(tuple(terms), np.mean([model.intercept for model in models], axis=0))


def _average_term(terms: list[Term], n_models: int) -> Term:
    axes = tuple(_joined_axis([term.axes[d] for term in terms]) for d in range(len(terms[0].axes)))
    values = np.sum([_values_at(term, axes) for term in terms], axis=0) / n_models
    weights = np.sum([_weights_at(term, axes) for term in terms], axis=0)
    return Term(axes, values, weights / max(weights.sum(), np.finfo(float).tiny))


def _joined_axis(axes: list[Axis]) -> Axis:
    if len({axis.is_category for axis in axes}) > 1:
        raise ParameterError(f"feature {axes[0].feature} is a category in some of the models only")
    knots = np.unique(np.concatenate([axis.knots for axis in axes]))
    return Axis(axes[0].feature, knots, axes[0].is_category)


def _values_at(term: Term, axes: tuple[Axis, ...]) -> np.ndarray:
    """Return the term's values on a grid of other knots, with what is missing last."""
    grid = np.meshgrid(*(np.append(axis.knots, np.nan) for axis in axes), indexing="ij")
    X = np.zeros((grid[0].size, max(term.features) + 1))
    for axis, values in zip(axes, grid, strict=True):
        X[:, axis.feature] = values.ravel()
    return term.respond(X).reshape(len(term.values), *grid[0].shape)


def _weights_at(term: Term, axes: tuple[Axis, ...]) -> np.ndarray:
    """Return the term's weights where its knots are among others."""
    places = [
        np.append(np.searchsorted(axis.knots, own.knots), len(axis.knots))
        for axis, own in zip(axes, term.axes, strict=True)
    ]
    out = np.zeros(tuple(len(axis) for axis in axes))
    out[np.ix_(*places)] = term.weights
    return out
