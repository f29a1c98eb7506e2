import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.features.errors import ParameterError
from annealed.models.selection import EmbeddedSelector, StabilitySelector, make_selector
from annealed.models.selection.comparison import compare_each
from annealed.models.selection.stability import false_selections


@pytest.fixture(name="table")
def make_table(rng):
    X = rng.standard_normal((120, 40))
    return X, X[:, 4] - X[:, 17] + 0.5 * rng.standard_normal(120)


@pytest.mark.parametrize("selector", ["f", "fsa", EmbeddedSelector()])
@pytest.mark.parametrize("classes", [False, True])
def test_what_matters_is_taken_on_every_half(table, selector, classes):
    X, y = table
    model = StabilitySelector(2, selector=selector, n_splits=5).fit(X, y > 0 if classes else y)
    assert model.get_support(indices=True).tolist() == [4, 17]
    assert model.threshold_ == 1.0
    assert model.frequencies_.sum() == pytest.approx(4)  # twice k on each half
    assert sorted(model.ranking_) == [1, 1, *range(2, 40)]


def test_without_k_all_above_the_threshold_are_selected(table):
    X, y = table
    model = StabilitySelector(None, selector="f", n_splits=10, threshold=0.9).fit(X, y)
    np.testing.assert_array_equal(model.support_, model.frequencies_ >= 0.9)
    assert model.support_[[4, 17]].all()
    assert 0 < model.false_selections_ <= 1


def test_chance_selects_no_more_than_the_bound_says():
    """Features that say nothing, taken with equal probabilities."""
    n_splits, n_features, n_taken, threshold = 10, 60, 6, 0.6
    selected = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((30, n_features)), rng.standard_normal(30)
        model = StabilitySelector(
            None, selector="f", n_taken=n_taken, n_splits=n_splits, threshold=threshold, random_state=seed
        ).fit(X, y)
        selected.append(model.support_.sum())
    assert 0 < np.mean(selected) <= false_selections(threshold, n_splits, n_taken, n_features)


def test_the_bound_by_hand():
    """B = 50, q = 10 of 1000 features: equation (8) of Shah and Samworth on either side of 3/4."""
    assert false_selections(0.9, 50, 10, 1000) == pytest.approx(4 * (0.1 + 0.01) / 1.02 * 0.1)
    assert false_selections(0.6, 50, 10, 1000) == pytest.approx(0.1 / (2 * (0.2 - 0.01)))
    assert false_selections(0.5, 50, 10, 1000) == np.inf
    values = [false_selections(t, 50, 10, 1000) for t in np.linspace(0.55, 1, 46)]
    assert (np.diff(values) < 0).all()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_copies_are_named_and_take_no_part(table, make):
    X, y = table
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    X = np.hstack([X, X[:, [4, 17, 4]]])
    model = StabilitySelector(3, selector="fsa", n_splits=5).fit(make(X), y)
    assert model.copies_ == {4: [40, 42], 17: [41]}
    assert model.support_.sum() == 3
    assert model.support_[[4, 17]].all()
    np.testing.assert_array_equal(model.frequencies_[[40, 41, 42]], model.frequencies_[[4, 17, 4]])


def test_plot_returns_the_axes_it_is_given(table):
    X, y = table
    model = StabilitySelector(2, selector="f", n_splits=3).fit(X, y)
    _, axes = plt.subplots()
    assert model.plot(axes, most=5) is axes
    assert [bar.get_width() for bar in axes.patches] == model.frequencies_[model.order_[:5]][::-1].tolist()
    assert model.plot() is not axes
    plt.close("all")


def test_any_method_by_its_name(table):
    X, y = table
    assert make_selector("stable-pearson", 2).fit(X, y).get_support(indices=True).tolist() == [4, 17]
    found = {
        name: (scores, problem)
        for name, scores, problem in compare_each(X, y > 0, ("f", "stable-f"), [2], n_folds=2, seed=0)
    }
    assert not any(problem for _, problem in found.values())
    assert found["stable-f"][0][0].stability == 1.0
    with pytest.raises(ParameterError, match="no method is named 'stable-nothing'"):
        make_selector("stable-nothing", 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.5}, "threshold must be above 0.5"),
        ({"n_splits": 0}, "n_splits must be an integer of at least 1"),
        ({"n_taken": 2.5}, "n_taken must be an integer"),
        ({"selector": "no such"}, "no method is named"),
        ({"selector": 3}, "selector must be a name or have a parameter k"),
        ({"k": 0}, "k must be an integer of at least 1"),
    ],
)
def test_parameters_are_refused_in_a_line(table, options, message):
    with pytest.raises(ParameterError, match=message):
        StabilitySelector(**options).fit(*table)


@parametrize_with_checks([StabilitySelector(2, selector="f", n_splits=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
