import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.curve_editing import average, without_terms
from annealed.models.curves import Axis, CurveModel, Term


def make_model(rng, knots, categories):
    quantity, category = Axis(0, np.array(knots)), Axis(1, np.array(categories), is_category=True)
    terms = []
    for axes in ((quantity,), (category,), (quantity, category)):
        shape = [len(axis) for axis in axes]
        terms.append(Term(axes, rng.standard_normal((1, *shape)), np.full(shape, 1 / np.prod(shape))))
    return CurveModel(tuple(terms), rng.standard_normal(1))


def test_average_responds_with_the_mean(rng):
    one, other = make_model(rng, [0.0, 1.0, 3.0], [0.0, 1.0]), make_model(rng, [-1.0, 2.0], [1.0, 4.0])
    X = np.column_stack([rng.uniform(-2, 4, 200), rng.integers(0, 6, 200)])
    X[:20, 0] = np.nan
    both = average([one, other])
    np.testing.assert_allclose(both.respond(X), (one.respond(X) + other.respond(X)) / 2)
    assert sum(term.weights.sum() for term in both.curves) == pytest.approx(3)


def test_a_term_that_one_model_lacks_counts_as_zero(rng):
    one, other = make_model(rng, [0.0, 1.0], [0.0]), make_model(rng, [0.0, 1.0], [0.0])
    short = without_terms(other, [(0,), (0, 1)])
    X = np.column_stack([rng.uniform(-2, 4, 50), np.zeros(50)])
    expected = (one.respond(X) + short.respond(X)) / 2
    np.testing.assert_allclose(average([one, short]).respond(X), expected)


def test_without_terms_leaves_the_others(rng):
    model = make_model(rng, [0.0, 1.0], [0.0])
    X = np.column_stack([rng.uniform(-2, 4, 50), np.zeros(50)])
    expected = model.respond(X) - model.curves[0].respond(X).T
    np.testing.assert_allclose(without_terms(model, [(0,)]).respond(X), expected)
    with pytest.raises(ParameterError, match=r"no term of the features \(5,\)"):
        without_terms(model, [(5,)])
