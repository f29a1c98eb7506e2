"""All selectors by name: the same face, the same answers to bad input, the planted features found."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.features.errors import AnnealedError, DataError, ParameterError
from annealed.models.selection import EmbeddedSelector, FilterSelector, WrapperSelector
from annealed.models.selection.embedded import quantile_tisp
from annealed.models.selection.filters import (
    CRITERIA,
    discrete_information,
    f_statistic,
    mrmr_order,
    relieff,
)
from annealed.models.selection.registry import METHODS, Method, make_selector, methods_for

FAST = [name for name in METHODS if METHODS[name].installed and name != "exhaustive"]


@parametrize_with_checks(
    [FilterSelector(1, criterion=name) for name in ("pearson", "gini", "relieff", "mrmr")]
    + [WrapperSelector(1), EmbeddedSelector(1), EmbeddedSelector(1, penalty="tisp")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_quick(name, k, task):
    """Return an unfitted selector; annealing looks at fewer sets, which is enough for small tables."""
    selector = make_selector(name, k, task=task, random_state=0)
    return selector.set_params(n_iter=80, cv=2) if name == "annealing" else selector


def planted(task, seed=0, n=200, m=12):
    rng = np.random.default_rng(seed)
    X = rng.random((n, m)) + 0.5
    f = 3 * X[:, 2] - 3 * X[:, 7]
    return X, f > 0 if task == "classification" else f


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", METHODS)
def test_each_method_finds_two_planted_features(name, task):
    method = METHODS[name]
    if not method.installed:
        pytest.skip(f"{method.requires} is not installed")
    if task not in method.tasks:
        with pytest.raises(ParameterError, match="the target asks for"):
            make_selector(name, 2, task=task)
        return
    X, y = planted(task)
    selector = make_quick(name, 2, task).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2, 7]
    assert selector.transform(X).shape == (200, 2)
    if hasattr(selector, "ranking_"):
        assert set(np.flatnonzero(selector.ranking_ == 1)) == {2, 7}


@pytest.mark.parametrize("name", [n for n in FAST if "classification" in METHODS[n].tasks])
def test_three_classes_and_constant_columns(name):
    X, _ = planted("regression")
    X[:, 5] = 1.0
    y = np.digitize(X[:, 2], [0.8, 1.2])
    selector = make_quick(name, 1, "classification").fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2]


# Every method at each task that it is for, exhaustive search included.
USES = [(name, task) for name in METHODS if METHODS[name].installed for task in METHODS[name].tasks]
EACH_USE = pytest.mark.parametrize(("name", "task"), USES)


def bad_case(name, task, k=2):
    """Return an unfitted selector and a small table that it would fit on."""
    return make_quick(name, k, task), *planted(task, n=30)


@EACH_USE
def test_nan_in_a_feature_is_refused(name, task):
    selector, X, y = bad_case(name, task)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        selector.fit(np.where(X > 1.45, np.nan, X), y)


@EACH_USE
def test_infinity_is_refused(name, task):
    selector, X, y = bad_case(name, task)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        selector.fit(np.where(X > 1.45, np.inf, X), y)


@EACH_USE
def test_labels_of_the_wrong_length_are_refused(name, task):
    selector, X, y = bad_case(name, task)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        selector.fit(X, y[:-1])


@EACH_USE
def test_k_above_the_number_of_features_warns(name, task):
    selector, X, y = bad_case(name, task, k=13)
    with pytest.warns(UserWarning, match="k = 13 exceeds the 12 features of X"):
        selector.fit(X, y)
    assert 1 <= selector.get_support().sum() <= 12


@EACH_USE
@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_k_that_is_no_size_is_refused(name, task, k):
    selector, X, y = bad_case(name, task, k=k)
    with pytest.raises(ParameterError, match="k must be an integer of at least 1"):
        selector.fit(X, y)


@EACH_USE
def test_constant_columns_are_never_selected(name, task):
    X, y = planted(task, n=60)
    X[:, [0, 5]] = 1.0, 0.0
    selector = make_quick(name, 2, task).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2, 7]


@pytest.mark.parametrize("name", [name for name, task in USES if task == "classification"])
def test_one_class_is_refused(name):
    selector, X, _ = bad_case(name, "classification")
    with pytest.raises(DataError, match="y must hold at least two classes, got one class"):
        selector.fit(X, np.zeros(30, dtype=int))


@pytest.mark.parametrize("name", ["fsa", "fgm"])
def test_groups_that_do_not_cover_are_refused(name):
    selector, X, y = bad_case(name, "classification")
    with pytest.raises(ValueError, match=r"groups.*(11|12)"):
        selector.set_params(groups=np.arange(11)).fit(X, y)


def test_groups_that_leave_features_out_are_refused():
    selector, X, y = bad_case("fgm", "classification")
    with pytest.raises(DataError, match="groups must cover all features; 9 are in none, the first is 3"):
        selector.set_params(groups=[[0, 1], [1, 2]]).fit(X, y)


def test_chi_squared_refuses_negative_values():
    X, y = planted("classification")
    with pytest.raises(DataError, match="X has negative values"):
        FilterSelector(2, criterion="chi2").fit(X - 1, y)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ParameterError, match="there are fsa, fsa-piecewise"):
        make_selector("best", 2)
    for selector in (
        FilterSelector(criterion="best"),
        WrapperSelector(2, search="best"),
        EmbeddedSelector(2, penalty="best"),
        FilterSelector(2, task="best"),
    ):
        with pytest.raises(AnnealedError, match="must be one of"):
            selector.fit(*planted("classification"))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(METHODS, "other", Method(lambda *_: None, requires="no_such_package"))
    with pytest.raises(ParameterError, match="needs the package no_such_package"):
        make_selector("other", 2)
    assert "other" not in methods_for("classification")


def test_exhaustive_search_refuses_too_many_sets(rng):
    X = rng.standard_normal((20, 60))
    with pytest.raises(ParameterError, match="5461512 sets; at most 100000"):
        WrapperSelector(5, search="exhaustive").fit(X, X[:, 0] > 0)


def test_relieff_is_its_definition(rng):
    """Naive twin: loops over samples, neighbours and features."""
    X, y = rng.random((25, 4)), rng.integers(0, 3, 25)
    unit = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    prior = np.bincount(y) / 25
    expected = np.zeros(4)
    for i in range(25):
        for c in range(3):
            others = [j for j in range(25) if y[j] == c and j != i]
            others.sort(key=lambda j, i=i: np.abs(unit[i] - unit[j]).sum())
            others = others[:10]
            for j in others:
                factor = -1 if c == y[i] else prior[c] / (1 - prior[y[i]])
                for feature in range(4):
                    expected[feature] += factor * abs(unit[i, feature] - unit[j, feature]) / len(others) / 25
    np.testing.assert_allclose(relieff(X, y, True, None), expected, atol=1e-12)


def test_discrete_information_by_hand():
    code = np.array([0, 0, 1, 1])
    levels = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]])
    # a copy of the code, an independent column, a constant one
    np.testing.assert_allclose(discrete_information(levels, code), [np.log(2), 0, 0], atol=1e-15)


def test_mrmr_prefers_new_information_to_a_copy(rng):
    a, b = rng.integers(-1, 2, (2, 300)) * 10.0
    X = np.c_[a, a, b, rng.integers(-1, 2, 300)]
    order = mrmr_order(X, ((a > 0) * 2 + (b > 0)).astype(int), True, 2)
    assert set(order) == {0, 2}


def test_gini_of_a_pure_split_is_all_of_it():
    y = np.array([0, 0, 1, 1])
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    np.testing.assert_allclose(CRITERIA["gini"](X, y, True, None), [0.5, 0.0])


def test_f_of_constant_columns_comes_last():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 2.5], [0.0, 0.5]])
    assert np.isnan(f_statistic(X, np.array([0, 1, 1, 0]), True, None)[0])
    assert FilterSelector(1).fit(X, [0, 1, 1, 0]).get_support().tolist() == [False, True]


def test_quantile_tisp_solves_least_squares_on_what_it_keeps(rng):
    X = rng.standard_normal((80, 20))
    Y = X[:, [3, 11]] @ np.array([[2.0], [-1.0]])
    sizes = quantile_tisp(X, Y, 2, 2000)
    assert np.flatnonzero(sizes).tolist() == [3, 11]
    np.testing.assert_allclose(sizes[[3, 11]], [2, 1], atol=1e-4)
