import numpy as np
import pytest

from annealed.datasets.tables.simulated import make_correlated_classification, make_correlated_regression
from annealed.models.selection.registry import METHODS, make_selector


def test_bisection_finds_the_size():
    from common.peers import bisect_to_size

    thresholds = np.geomspace(0.3, 300, 50)
    for k in (1, 7, 50):
        assert bisect_to_size(lambda strength: thresholds <= strength, 0.1, 1000, k).sum() == k


def test_bisection_takes_fewer_where_the_size_is_jumped_over():
    from common.peers import bisect_to_size

    thresholds = np.array([1.0, 1.0, 5.0, 5.0, 5.0])
    assert bisect_to_size(lambda strength: thresholds <= strength, 0.1, 100, 4).sum() == 2


def test_largest_model_within_the_limit_is_the_last_of_its_size():
    from common.peers import largest_within

    assert largest_within(np.array([0, 1, 3, 3, 7]), 5) == 3
    assert largest_within(np.array([0, 1, 5, 7, 5]), 5) == 4
    assert largest_within(np.array([9]), 5) == 0


CLASSIFIER_NAMES = [
    "fsa",
    "fsa-lorenz",
    "fsa-logistic",
    "fsa-huber",
    "fsa-printed",
    "l1-logistic",
    "elastic-net-sgd",
    "rfe-logistic",
    "abess",
    "fastsparsegams",
    "fastsparsegams-swaps",
    "mcp-logistic",
    "scad-logistic",
    "tisp-logistic",
    "logitboost",
    "logitboost-tenth",
]
REGRESSOR_NAMES = [
    "fsa",
    "lasso",
    "elastic-net-refit",
    "rfe-ridge",
    "abess",
    "fastsparsegams",
    "fastsparsegams-swaps",
    "mcp-path",
    "scad-path",
    "tisp-refit",
    "simulated-annealing-ols",
]


def test_a_name_is_one_algorithm():
    """A name of the registry is made by it; the other names are not there."""
    from common.peers import CLASSIFIERS, REGRESSORS

    shared = {*CLASSIFIERS, *REGRESSORS} & set(METHODS)
    assert shared == {"fsa", "fsa-lorenz", "fsa-logistic", "fsa-huber", "fsa-printed"}
    X, y, _ = make_correlated_classification(200, 40, k=3, random_state=0)
    for name in shared:
        direct = make_selector(name, 3, task="classification", random_state=5).fit(X, y)
        fitted = CLASSIFIERS[name].fit(X, y, 3, 5)
        np.testing.assert_array_equal(fitted.score(X), direct.decision_function(X))


@pytest.mark.parametrize("name", CLASSIFIER_NAMES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classifiers_select_at_most_k_and_rank_new_rows(name):
    from common.peers import CLASSIFIERS
    from sklearn.metrics import roc_auc_score

    if not CLASSIFIERS[name].available:
        pytest.skip(f"{CLASSIFIERS[name].requires} is not installed")
    X, y, _ = make_correlated_classification(400, 60, k=3, random_state=0)
    fitted = CLASSIFIERS[name].fit(X[:200], y[:200], 3, 0)
    assert 1 <= fitted.support.sum() <= 3
    assert roc_auc_score(y[200:], fitted.score(X[200:])) > 0.75


@pytest.mark.parametrize("name", REGRESSOR_NAMES)
def test_regressors_select_at_most_k_and_predict_new_rows(name):
    from common.peers import REGRESSORS

    if not REGRESSORS[name].available:
        pytest.skip(f"{REGRESSORS[name].requires} is not installed")
    X, y, _ = make_correlated_regression(400, 60, k=3, random_state=0)
    fitted = REGRESSORS[name].fit(X[:200], y[:200], 3, 0)
    assert 1 <= fitted.support.sum() <= 3
    assert np.mean((fitted.score(X[200:]) - y[200:]) ** 2) < 0.8 * y[200:].var()


def test_every_method_is_tested():
    from common.peers import CLASSIFIERS, REGRESSORS

    # annealing with a classifier takes seconds; its parts are tested on their own
    assert set(CLASSIFIERS) == {*CLASSIFIER_NAMES, "l2-svm", "simulated-annealing-svm"}
    assert set(REGRESSORS) == {*REGRESSOR_NAMES, "ridge"}


def test_methods_without_selection_use_all():
    from common.peers import CLASSIFIERS, REGRESSORS

    X, y, _ = make_correlated_classification(100, 30, k=2, random_state=0)
    assert CLASSIFIERS["l2-svm"].fit(X, y, 2, 0).support is None
    assert REGRESSORS["ridge"].fit(X, y.astype(float), 2, 0).support is None
