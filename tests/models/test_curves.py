"""Terms are told apart from a twin that goes value by value."""

from dataclasses import replace

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.curves import Axis, CurveModel, Term
from annealed.models.model_files import ModelFile
from annealed.models.model_kinds import model_from_arrays


def make_term(rng, *axes, n_outputs=2):
    shape = [len(axis) for axis in axes]
    weights = rng.random(shape)
    return Term(axes, rng.standard_normal((n_outputs, *shape)), weights / weights.sum())


@pytest.fixture
def model(rng):
    quantity = Axis(0, np.array([-1.0, 0.5, 2.0]))
    category = Axis(2, np.array([0.0, 1.0, 4.0]), is_category=True)
    curves = make_term(rng, quantity), make_term(rng, category), make_term(rng, quantity, category)
    return CurveModel(
        (*curves, make_term(rng, Axis(3, np.array([0.0, 1.0])), quantity)), np.array([1.0, -2.0])
    )


@pytest.fixture(name="X")
def rows(rng):
    X = rng.uniform(-3, 4, (300, 4))
    X[:, 2] = rng.integers(-1, 6, 300)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:3, 0] = [-1.0, 0.5, 2.0]
    return X


def naive_corners(axis, x):
    """Yield places along an axis with their parts of the value."""
    missing = len(axis.knots)
    if np.isnan(x) or (axis.is_category and x not in axis.knots):
        yield missing, 1.0
    elif axis.is_category:
        yield list(axis.knots).index(x), 1.0
    else:
        hats = [np.interp(x, axis.knots, row) for row in np.eye(missing)]
        yield from enumerate(hats)


def naive_term(term, output, row):
    corners = [list(naive_corners(axis, row[axis.feature])) for axis in term.axes]
    if len(corners) == 1:
        return sum(part * term.values[output, a] for a, part in corners[0])
    return sum(p * q * term.values[output, a, b] for a, p in corners[0] for b, q in corners[1])


def test_terms_agree_with_naive_twin(model, X):
    found = model.terms(X)
    for t, term in enumerate(model.curves):
        for o in range(2):
            expected = [naive_term(term, o, row) for row in X]
            np.testing.assert_allclose(found[o, :, t], expected, atol=1e-12)


def test_response_is_the_sum_of_the_terms(model, X):
    np.testing.assert_allclose(model.respond(X), model.terms(X).sum(axis=2).T + model.intercept)


def test_far_and_huge_values_take_the_outer_knots(rng):
    term = make_term(rng, Axis(0, np.array([-1e308, 0.0, 1e308])))
    found = term.respond(np.array([[-np.inf], [np.inf], [0.5e308]]))
    np.testing.assert_allclose(found[:, :2], term.values[:, [0, 2]])
    np.testing.assert_allclose(found[:, 2], term.values[:, 1:3].mean(axis=1))


def test_arrays_bring_the_same_model_back(model, X):
    file = ModelFile("estimator", model.to_arrays("f_"), {})
    again = model_from_arrays(file, "f_", n_features=4)
    assert isinstance(again, CurveModel)
    np.testing.assert_array_equal(again.respond(X), model.respond(X))
    for one, other in zip(again.curves, model.curves, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("term_axes", np.array([1, 1, 2, 3])),
        ("axis_features", np.array([0, 2, 0, 2, 3, 4])),
        ("axis_knots", np.array([3, 3, 3, 3, 2, 4])),
        ("axis_knots", np.array([3, 3, 3, 3, 3, 2])),
        ("knots", np.zeros(17)),
        ("term_values", np.zeros(5)),
        ("term_weights", np.zeros(5)),
        ("intercept", np.zeros(0)),
    ],
)
def test_damaged_arrays_are_refused(model, name, value):
    file = ModelFile("estimator", {**model.to_arrays(), name: value}, {})
    with pytest.raises(DataError, match=r"model file|knots"):
        model_from_arrays(file, n_features=4)


def test_rescaled_and_renumbered(model, X):
    scale, shift = np.array([2.0, -1.0]), np.array([0.5, 3.0])
    np.testing.assert_allclose(model.rescaled(scale, shift).respond(X), model.respond(X) * scale + shift)
    moved = model.with_features(np.array([5, 6, 8]))
    assert moved.features.tolist() == [5, 6, 8]
    wide = np.full((len(X), 9), np.nan)
    wide[:, [5, 6, 8]] = X[:, [0, 2, 3]]
    np.testing.assert_array_equal(moved.respond(wide), model.respond(X))


def test_importance_is_the_deviation_over_the_training_rows(model):
    assert model.features.tolist() == [0, 2, 3]
    alone = replace(model, curves=model.curves[:2])
    expected = [np.sqrt((term.deviation() ** 2).sum()) for term in alone.curves]
    np.testing.assert_allclose(alone.importance(), expected)
    assert (model.importance()[:2] > alone.importance()).all()


def test_terms_must_fit_their_knots(rng):
    with pytest.raises(DataError, match="ascending"):
        Axis(0, np.array([1.0, 1.0]))
    with pytest.raises(DataError, match="values of shape"):
        Term((Axis(0, np.array([1.0])),), np.zeros((1, 3)), np.zeros(2))
    with pytest.raises(DataError, match="not finite"):
        Term((Axis(0, np.array([1.0])),), np.array([[1.0, np.nan]]), np.zeros(2))
    with pytest.raises(DataError, match="outputs"):
        CurveModel((make_term(rng, Axis(0, np.array([1.0]))),), np.zeros(1))
