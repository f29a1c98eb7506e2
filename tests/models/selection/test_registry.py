"""All selectors by name: the same face, the same answers to bad input, the planted features found."""

import numpy as np
import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.features.errors import AnnealedError, DataError, ParameterError
from annealed.models.selection import EmbeddedSelector, FilterSelector, WrapperSelector
from annealed.models.selection.ranked import RankedSelector
from annealed.models.selection.registry import METHODS, Method, make_selector, methods_for

FAST = [name for name in METHODS if METHODS[name].installed and name != "exhaustive"]


@parametrize_with_checks([FilterSelector(1), WrapperSelector(1), EmbeddedSelector(1)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_quick(name, k, task):
    """Return an unfitted selector; annealing looks at fewer sets, which is enough for small tables."""
    selector = make_selector(name, k, task=task, random_state=0)
    return selector.set_params(n_iter=80, cv=2) if name == "simulated-annealing" else selector


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
def test_nan_in_a_feature_is_refused_or_has_a_place(name, task):
    selector, X, y = bad_case(name, task)
    missing = np.where(X > 1.45, np.nan, X)
    if get_tags(selector).input_tags.allow_nan:  # curves have a place for what is missing
        assert selector.fit(missing, y).get_support().sum() == 2
        return
    with pytest.raises(ValueError, match="X contains NaN"):
        selector.fit(missing, y)


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
    with pytest.raises(ParameterError, match=r"k must be an integer of at least 1|The 'k' parameter of "):
        selector.fit(X, y)


@EACH_USE
def test_constant_columns_are_never_selected(name, task):
    X, y = planted(task, n=60)
    X[:, [0, 5]] = 1.0, 0.0
    selector = make_quick(name, 2, task).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2, 7]


@EACH_USE
def test_only_constant_columns_select_nothing(name, task):
    """Methods that rank and annealed ones say so; the others leave a model of the mean alone."""
    selector, X, y = bad_case(name, task)
    if isinstance(selector, RankedSelector) or name.startswith(("fsa", "stable")):
        with pytest.raises(DataError, match="every feature is constant"):
            selector.fit(np.ones_like(X), y)
    else:
        assert not selector.fit(np.ones_like(X), y).get_support().any()


@pytest.mark.parametrize("name", [name for name, task in USES if task == "classification"])
def test_one_class_is_refused(name):
    selector, X, _ = bad_case(name, "classification")
    with pytest.raises(DataError, match="y must hold at least two classes, got one class"):
        selector.fit(X, np.zeros(30, dtype=int))


@pytest.mark.parametrize("name", ["fsa", "fgm"])
def test_groups_that_do_not_cover_are_refused(name):
    selector, X, y = bad_case(name, "classification")
    with pytest.raises(ValueError, match=r"groups.*(11|12)"):
        selector.set_params(feature_groups=np.arange(11)).fit(X, y)


def test_groups_that_leave_features_out_are_refused():
    selector, X, y = bad_case("fgm", "classification")
    with pytest.raises(DataError, match="groups must cover all features; 9 are in none, the first is 3"):
        selector.set_params(feature_groups=[[0, 1], [1, 2]]).fit(X, y)


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
