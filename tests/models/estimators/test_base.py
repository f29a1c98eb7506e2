"""What all annealed estimators share: parameters, tables of all kinds, and what they report."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from annealed.features.errors import AnnealedError, DataError, ParameterError
from annealed.models import (
    FSAClassifier,
    FSAClassifierCV,
    FSARanker,
    FSARegressor,
    Linear,
    Piecewise,
    load_model,
)
from annealed.models.penalties import Ridge, SecondDifference

ESTIMATORS = [FSAClassifier, FSARegressor, FSARanker]
RESPONSES = ["linear", "piecewise"]
SHORT = {"k": 3, "n_iter": 60}
N_ROWS = 150


@pytest.fixture(name="X")
def make_table(rng):
    return rng.standard_normal((N_ROWS, 12))


@pytest.fixture(name="y")
def make_targets(X):
    """Depends on the features 2, 5 and 9; classes, values and grades at once."""
    return (X[:, 2] + X[:, 5] - X[:, 9] > 0).astype(int)


def score(model, X):
    return model.decision_function(X) if isinstance(model, FSAClassifier) else model.predict(X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
def test_selects_and_reports(estimator, response, X, y):
    model = estimator(response=response, **SHORT)
    assert model.fit(X, y) is model
    assert model.get_support(indices=True).tolist() == [2, 5, 9]
    assert model.support_.dtype == bool
    assert sorted(model.ranking_) == [1, 1, 1, *range(2, 11)]
    assert (model.ranking_[model.support_] == 1).all()
    assert model.n_features_in_ == 12
    assert model.n_iter_ == len(model.trace_) <= 60
    assert model.trace_.features_kept[-1] == 3
    np.testing.assert_array_equal(model.transform(X), X[:, [2, 5, 9]])


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_linear_coefficients_are_in_the_inputs_units(estimator, X, y):
    X = X * np.logspace(-3, 3, 12) + np.arange(12)
    model = estimator(**SHORT).fit(X, y)
    coef, intercept = np.ravel(model.coef_), np.ravel(model.intercept_)[0]
    assert np.flatnonzero(coef).tolist() == [2, 5, 9]
    np.testing.assert_allclose(score(model, X), X @ coef + intercept, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
def test_units_of_the_input_do_not_matter(estimator, response, X, y):
    """Features are standardised or take their own range: a model follows its table's units."""
    scale, shift = np.logspace(-6, 6, 12), np.linspace(-50, 50, 12)
    plain = estimator(response=response, **SHORT).fit(X, y)
    scaled = estimator(response=response, **SHORT).fit(X * scale + shift * scale, y)
    np.testing.assert_array_equal(plain.support_, scaled.support_)
    np.testing.assert_allclose(score(plain, X), score(scaled, (X + shift) * scale), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_piecewise_functions_are_reported_at_their_knots(estimator, X, y):
    model = estimator(response="piecewise", n_bins=4, **SHORT).fit(X, y)
    assert model.knots_.shape == (3, 5)
    assert model.knot_values_.shape == (1, 3, 5)
    least, most = X[:, [2, 5, 9]].min(axis=0), X[:, [2, 5, 9]].max(axis=0)
    np.testing.assert_allclose(model.knots_[:, 0], least)
    np.testing.assert_allclose(model.knots_[:, -1], most)
    expected = np.ravel(model.intercept_)[0] + sum(
        np.interp(X[:, [2, 5, 9][j]], model.knots_[j], model.knot_values_[0, j]) for j in range(3)
    )
    np.testing.assert_allclose(score(model, X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_responses_as_objects(estimator, X, y):
    named = estimator(response="piecewise", n_bins=4, **SHORT).fit(X, y)
    given = estimator(response=Piecewise(n_bins=4), **SHORT).fit(X, y)
    np.testing.assert_array_equal(score(named, X), score(given, X))
    plain, linear = (estimator(response=r, **SHORT).fit(X, y) for r in ("linear", Linear()))
    np.testing.assert_array_equal(score(plain, X), score(linear, X))
    rough, smooth = (
        estimator(response=Piecewise(smoothing=smoothing), **SHORT).fit(X, y)
        for smoothing in (None, SecondDifference(1.0, 1.0))
    )
    bends = [np.abs(np.diff(model.knot_values_, 2)).sum() for model in (rough, smooth)]
    assert bends[1] < bends[0] / 2


@pytest.mark.parametrize("estimator", [FSAClassifier, FSARegressor])
def test_one_huge_value_does_not_hide_a_feature(estimator, X, y):
    X = X.copy()
    X[3, 5] = 300
    for ranges, found in (("quantiles", True), ("trimmed", True), ("full", False)):
        model = estimator(response=Piecewise(ranges=ranges), **SHORT).fit(X, y)
        assert model.support_[5] == found
    assert np.isfinite(score(model, X)).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
def test_constant_tables_are_refused(estimator, response, X, y):
    with pytest.raises(DataError, match="every feature is constant: there is nothing to select by"):
        estimator(response=response, **SHORT).fit(np.ones_like(X), y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
def test_save_writes_what_load_model_reads(estimator, response, X, y, tmp_path):
    model = estimator(response=response, **SHORT).fit(X, y)
    model.save(tmp_path / "model.safetensors", {"seed": 3})
    np.testing.assert_array_equal(score(load_model(tmp_path / "model.safetensors"), X), score(model, X))


class Recorder:
    """A callback of scikit-learn's protocol."""

    def __init__(self):
        self.seen = []

    def setup(self, estimator, context):
        self.seen.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(f"{context.task_name} begins")

    def on_fit_task_end(self, estimator, context):
        self.seen.append(f"{context.task_name} ends")

    def teardown(self, estimator, context):
        self.seen.append("teardown")


@pytest.mark.parametrize("estimator", [*ESTIMATORS, FSAClassifierCV])
def test_callbacks_of_scikit_learn_see_the_fit_and_its_iterations(estimator, X, y):
    pytest.importorskip("sklearn.callback")
    recorder, ours = Recorder(), []
    sizes = {"k": [1, 3], "cv": 2} if estimator is FSAClassifierCV else {"k": 3}
    if issubclass(estimator, FSAClassifier):
        sizes["loss"] = "lorenz"  # "auto" may train twice
    model = estimator(n_iter=20, callback=ours.append, **sizes).set_callbacks(recorder).fit(X, y)
    each = ["iteration begins", "iteration ends"] * model.n_iter_
    assert recorder.seen == ["setup", "fit begins", *each, "fit ends", "teardown"]
    assert ours[-model.n_iter_ :][0].iteration == 1
    plain = estimator(n_iter=20, **sizes).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
def test_values_outside_the_training_range(estimator, response, X, y):
    """Linear responses go on, piecewise ones clamp; both stay finite."""
    model = estimator(response=response, **SHORT).fit(X, y)
    far, farther = (score(model, np.full((1, 12), v)) for v in (1e3, 1e6))
    assert np.isfinite(farther).all()
    assert (far == farther).all() == (response == "piecewise")


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_and_dense_tables_select_the_same(estimator, form, X, y):
    """Sparse tables are not centred, which the intercept makes up for."""
    X = X * (np.abs(X) > 0.3)
    options = {"k": 3, "n_iter": 600, "tol": 1e-9, "penalty": Ridge(0.05), "batch_size": None}
    dense, thin = (estimator(**options).fit(table, y) for table in (X, form(X)))
    np.testing.assert_array_equal(dense.support_, thin.support_)
    np.testing.assert_allclose(dense.coef_, thin.coef_, rtol=0.02, atol=1e-12)
    np.testing.assert_allclose(score(thin, form(X)), score(thin, X))
    assert thin.transform(form(X)).shape == (N_ROWS, 3)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
def test_float32_tables(estimator, response, X, y):
    X = X.astype(np.float32)
    single = estimator(response=response, **SHORT).fit(X, y)
    double = estimator(response=response, **SHORT).fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(single.support_, double.support_)
    np.testing.assert_allclose(score(single, X), score(double, X), atol=1e-4)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_column_names_survive(estimator, X, y):
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    model = estimator(**SHORT).fit(table, y).set_output(transform="pandas")
    assert model.feature_names_in_.tolist() == list(table.columns)
    assert model.get_feature_names_out().tolist() == ["c2", "c5", "c9"]
    assert model.transform(table).columns.tolist() == ["c2", "c5", "c9"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table.rename(columns={"c0": "other"}))


def test_groups_of_columns_stay_together(X, y):
    groups = ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e", "f", "f"]
    model = FSAClassifier(k=3, feature_groups=groups, n_iter=60).fit(X, y)
    assert model.get_support(indices=True).tolist() == [2, 3, 4, 5, 8, 9]
    assert model.trace_.features_kept[-1] == 6


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
def test_always_keep(estimator, response, X, y):
    model = estimator(always_keep=[0, 2], response=response, **SHORT).fit(X, y)
    assert {0, 2} <= set(model.get_support(indices=True))
    assert model.support_.sum() == 3


def test_constant_columns_are_dropped_first(X, y):
    X = np.column_stack([np.full(N_ROWS, 0.1), X, np.full(N_ROWS, 1e9)])
    for response in RESPONSES:
        model = FSAClassifier(k=5, n_iter=60, response=response).fit(X, y)
        assert not model.support_[[0, -1]].any()
        assert np.isfinite(model.decision_function(X)).all()


def test_pipeline_and_grid_search(X, y):
    pipeline = make_pipeline(StandardScaler(), FSAClassifier(n_iter=40), LinearSVC())
    search = GridSearchCV(pipeline, {"fsaclassifier__k": [1, 3], "fsaclassifier__mu": [10, 300]}, cv=2)
    search.fit(X, y)
    assert search.best_params_["fsaclassifier__k"] == 3
    assert search.best_estimator_.score(X, y) > 0.9


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clone_keeps_all_parameters(estimator):
    parameters = {"k": 7, "response": "piecewise", "n_bins": 3, "mu": 10, "tol": 0.1, "momentum": 0.5}
    copy = clone(estimator(**parameters))
    assert {name: getattr(copy, name) for name in parameters} == parameters


@pytest.mark.parametrize("estimator", [FSAClassifier, FSARegressor])
def test_seed_decides_the_batches(estimator, X, y):
    options = {"batch_size": 10, **SHORT}
    first, again, other = (estimator(random_state=seed, **options).fit(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert first.trace_.loss == again.trace_.loss
    assert first.trace_.loss != other.trace_.loss


@pytest.mark.parametrize("estimator", [FSAClassifier, FSARegressor])
def test_order_of_rows_does_not_matter_in_one_batch(estimator, rng, X, y):
    order = rng.permutation(N_ROWS)
    options = {"batch_size": None, **SHORT}
    one, other = estimator(**options).fit(X, y), estimator(**options).fit(X[order], y[order])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
def test_threads_change_no_bit(estimator, response, rng, with_threads):
    """Large enough for the parallel kernels; ranked in one batch over few pairs."""
    X = rng.standard_normal((1400, 110))
    y = (X[:, 3] + X[:, 8] + rng.standard_normal(1400) > 0).astype(int)
    arguments = {"y": y} if estimator is not FSARanker else {"y": y, "qid": np.arange(1400) // 7}

    def run():
        model = estimator(k=4, n_iter=20, batch_size=None, response=response)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return model.fit(X, **arguments)

    one, two = with_threads(run)
    np.testing.assert_array_equal(one.ranking_, two.ranking_)
    np.testing.assert_array_equal(score(one, X), score(two, X))
    assert one.trace_.loss == two.trace_.loss


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_k_larger_than_the_table_warns_and_keeps_all(estimator, X, y):
    with pytest.warns(UserWarning, match="k = 13 exceeds the 12 features of X; all are kept"):
        model = estimator(k=13, n_iter=20).fit(X, y)
    assert model.support_.all()
    with pytest.warns(UserWarning, match="k = 5 exceeds the 4 feature groups of X; all are kept"):
        estimator(k=5, n_iter=20, feature_groups=np.arange(12) // 3).fit(X, y)


def test_callback_sees_every_iteration(X, y):
    seen = []
    model = FSARegressor(callback=seen.append, **SHORT).fit(X, y)
    assert [p.iteration for p in seen] == list(range(1, model.n_iter_ + 1))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("k", 0, r"an int in the range \[1, inf\)"),
        ("k", 2.5, "an int"),
        ("k", "all", "an int"),
        ("response", "cubic", "a str among"),
        ("response", Piecewise, "an instance of"),
        ("n_bins", 0, r"an int in the range \[1, 255\]"),
        ("n_bins", 256, "an int"),
        ("n_bins", 2.0, "an int"),
        ("n_iter", 0, r"an int in the range \[1, inf\)"),
        ("n_iter", 2.5, "an int"),
        ("n_iter", "many", "an int"),
        ("mu", -1, r"a float in the range \[0.0, inf\)"),
        ("mu", None, "a float"),
        ("mu", np.nan, "a float"),
        ("mu", np.inf, "a float"),
        ("batch_size", 0, "'auto'"),
        ("batch_size", 2.5, "'auto'"),
        ("batch_size", "big", "'auto'"),
        ("momentum", 1.0, r"a float in the range \[0.0, 1.0\)"),
        ("momentum", "much", "a float"),
        ("learning_rate", -1.0, r"a float in the range \(0.0, inf\)"),
        ("learning_rate", None, "'auto'"),
        ("penalty", "l1", "'auto'"),
        ("penalty", 0.1, "'add_gradient'"),
        ("tol", -1.0, r"a float in the range \[0.0, inf\)"),
        ("tol", None, "a float"),
        ("callback", "print", "a callable"),
        ("feature_groups", 5, "an array-like"),
    ],
)
def test_bad_parameters_are_refused(estimator, name, value, accepted, X, y):
    message = f"The '{name}' parameter of {estimator.__name__} must be .*{accepted}.* Got "
    with pytest.raises(ParameterError, match=message):
        estimator(**{**SHORT, name: value}).fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": True}, "k must be an integer of at least 1, got True"),
        ({"always_keep": [12]}, "always_keep must hold feature numbers from 0 to 11"),
        ({"always_keep": ["age"]}, "always_keep must hold feature numbers from 0 to 11"),
        ({"always_keep": [0, 1, 2, 3]}, "always_keep names 4 features or groups, more than k = 3"),
    ],
)
def test_parameters_that_the_run_refuses(estimator, parameters, message, X, y):
    with pytest.raises(ParameterError, match=message):
        estimator(**{**SHORT, **parameters}).fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("groups", [[0, 1, 2, 3], np.zeros((12, 2))])
def test_groups_of_another_length_are_refused(estimator, groups, X, y):
    with pytest.raises(DataError, match="groups must name a group for each of 12 features"):
        estimator(k=1, n_iter=20, feature_groups=groups).fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(estimator, response, bad, X, y):
    missing = "error" if np.isnan(bad) else "auto"  # by default a curve has a place for what is missing
    model = estimator(response=response, missing=missing, **SHORT).fit(X, y)
    X = X.copy()
    X[7, 3] = bad
    with pytest.raises(ValueError, match=r"contains NaN|contains infinity"):
        estimator(response=response, missing=missing, **SHORT).fit(X, y)
    with pytest.raises(ValueError, match=r"contains NaN|contains infinity"):
        model.predict(X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("shape", "message"), [((0, 12), "0 sample"), ((80, 0), "0 feature"), ((80,), "Expected 2D array")]
)
def test_empty_tables_are_refused(estimator, shape, message):
    with pytest.raises(ValueError, match=message):
        estimator(**SHORT).fit(np.zeros(shape), np.arange(shape[0]) % 2)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_targets_of_another_length_are_refused(estimator, X, y):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        estimator(**SHORT).fit(X, y[:-1])


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sparse_tables_have_no_piecewise_response(estimator, X, y):
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
        estimator(response="piecewise", **SHORT).fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("method", ["predict", "transform", "get_support"])
def test_use_before_fit_is_refused(estimator, method, X):
    arguments = [] if method == "get_support" else [X]
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(estimator(), method)(*arguments)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_tables_of_other_width_are_refused(estimator, X, y):
    model = estimator(**SHORT).fit(X, y)
    with pytest.raises(ValueError, match=r"X has 11 features, but .* is expecting 12 features"):
        model.predict(X[:, 1:])


@pytest.mark.parametrize("estimator", [FSAClassifier, FSARegressor])
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(N_ROWS, -1.0), "Negative values in data passed to `sample_weight`"),
        (np.full(N_ROWS, np.nan), "sample_weight contains NaN"),
        (np.ones(N_ROWS - 1), r"sample_weight.shape == \(149,\), expected \(150,\)"),
    ],
)
def test_bad_weights_are_refused(estimator, weight, message, X, y):
    with pytest.raises(ValueError, match=message):
        estimator(**SHORT).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("estimator", [FSAClassifier, FSARegressor])
def test_weights_that_are_all_zero_are_refused(estimator, X, y):
    with pytest.raises(ValueError, match="zero"):
        estimator(**SHORT).fit(X, y, sample_weight=np.zeros(N_ROWS))


@pytest.mark.parametrize("estimator", [FSAClassifier, FSARegressor])
@pytest.mark.parametrize("response", RESPONSES)
def test_weights_repeat_and_remove_samples(estimator, response, rng, X, y):
    weight = rng.integers(0, 4, N_ROWS)
    options = {"response": response, "batch_size": None, **SHORT}
    weighted = estimator(**options).fit(X, y, sample_weight=weight)
    repeated = estimator(**options).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(score(weighted, X), score(repeated, X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.filterwarnings("ignore:.* left out. values too")
def test_enormous_values_never_give_nan(estimator, response, X, y):
    """Their spread overflows; whatever is made of that column, the others still serve."""
    X = X.copy()
    X[:, 0] *= 1e300
    X[:, 1] *= 1e-300
    X[0, 4], X[1, 4] = 1.7e308, -1.7e308
    model = estimator(response=response, **SHORT).fit(X, y)
    assert np.isfinite(score(model, X)).all()


def test_errors_share_one_root():
    assert issubclass(ParameterError, AnnealedError)
    assert issubclass(DataError, AnnealedError)
