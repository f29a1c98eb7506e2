import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from table_models import fitted_models

from annealed.features.errors import DataError
from annealed.models import FSAClassifier, FSARegressor, Piecewise, load_model
from annealed.models.estimators.persistence import load, save
from annealed.models.losses import HuberHinge
from annealed.models.model_files import ModelFile, read_model_file
from annealed.models.penalties import Ridge

RESPONSES = ["linear", "piecewise"]


@pytest.fixture(name="X")
def make_table(rng):
    return rng.standard_normal((100, 8))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize(
    "name", ["two classes", "three classes", "truth", "one target", "two targets", "ranks", "chosen"]
)
def test_round_trip_predicts_identically(path, X, response, name):
    model = fitted_models(X, response)[name]
    save(model, path)
    again = load_model(path)
    prediction = again.predict(X)
    assert prediction.dtype == model.predict(X).dtype
    np.testing.assert_array_equal(prediction, model.predict(X))
    for method in ("decision_function", "predict_proba", "transform"):
        assert hasattr(again, method) == hasattr(model, method)
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    for attribute in ("support_", "ranking_", "intercept_", "coef_", "knots_", "knot_values_", "classes_"):
        assert hasattr(again, attribute) == hasattr(model, attribute)
        if hasattr(model, attribute):
            np.testing.assert_array_equal(getattr(again, attribute), getattr(model, attribute))
    assert again.k == 3
    assert again.n_features_in_ == 8


def test_chosen_size_comes_back_as_the_single_form(path, X):
    save(fitted_models(X, "linear")["chosen"], path)
    assert type(load_model(path)) is FSAClassifier


def test_loss_that_was_chosen_comes_back(path, X):
    model = fitted_models(X, "linear")["three classes"]
    save(model, path)
    assert load_model(path).loss_ == model.loss_


def test_column_names_come_back(path, X):
    table = pd.DataFrame(X, columns=list("abcdefgh"))
    save(FSARegressor(k=2, n_iter=40).fit(table, X[:, 1] - X[:, 4]), path)
    again = load_model(path)
    assert again.get_feature_names_out().tolist() == ["b", "e"]
    np.testing.assert_allclose(again.predict(table), X[:, 1] - X[:, 4], atol=0.01)
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(table[list("hgfedcba")])


def test_sparse_tables_predict_after_loading(path, X):
    thin = sparse.csr_array(X)
    model = FSARegressor(k=2, n_iter=40).fit(thin, X[:, 1])
    save(model, path)
    np.testing.assert_array_equal(load_model(path).predict(thin), model.predict(thin))


def test_loaded_model_fits_again(path, X):
    model = FSARegressor(k=2, n_iter=40, mu=10).fit(X, X[:, 1] - X[:, 4])
    save(model, path)
    again = load_model(path)
    assert (again.n_iter, again.mu) == (40, 10)
    np.testing.assert_array_equal(again.fit(X, X[:, 1] - X[:, 4]).coef_, model.coef_)


def test_metadata_of_the_caller_is_kept(path, X):
    save(FSARegressor(k=2, n_iter=20).fit(X, X[:, 1]), path, {"seed": 4, "scores": {"r2": 0.5}})
    metadata = read_model_file(path, "estimator").metadata
    assert metadata["seed"] == 4
    assert metadata["scores"] == {"r2": 0.5}


def test_arguments_that_no_text_can_hold_are_left_out(path, X):
    model = FSAClassifier(
        k=np.int64(2),
        n_iter=np.int64(30),
        mu=np.float32(50),
        penalty=Ridge(0.1),
        callback=print_nothing,
        random_state=np.random.RandomState(0),
        feature_groups=np.arange(8),
        loss=partial(HuberHinge, h=0.2),
        always_keep=np.array([1]),
        class_weight={True: 2, False: 1},
    ).fit(X, X[:, 1] > 0)
    save(model, path)
    again = load_model(path)
    assert (again.k, again.n_iter, again.mu) == (2, 30, 50)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def print_nothing(progress):
    pass


def test_unfitted_models_are_not_saved(path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        save(FSARegressor(), path)
    assert not path.exists()


def test_other_estimators_are_not_saved(path, X):
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit(X, X[:, 0])
    with pytest.raises(DataError, match=r"cannot save a LinearRegression; one of .* is needed"):
        save(model, path)


@pytest.fixture(name="parts")
def make_parts(path, X):
    """Give the arrays and metadata of a sound file, to be spoiled."""

    def read(name="two classes", response="linear"):
        save(fitted_models(X, response)[name], path)
        file = read_model_file(path)
        return dict(file.arrays), json.loads(json.dumps(file.metadata))

    return read


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("features", None, "array 'features' is missing"),
        ("coef", None, "array 'coef' is missing"),
        ("ranking", None, "array 'ranking' is missing"),
        ("intercept", None, "array 'intercept' is missing"),
        ("features", np.array([1.0, 4.0, 6.0]), "array 'features' is float64, expected int64"),
        ("features", np.array([], dtype=np.int64), "features must be ascending numbers from 0 to 7"),
        ("features", np.array([1, 1, 4]), "features must be ascending numbers from 0 to 7"),
        ("features", np.array([4, 1, 6]), "features must be ascending numbers from 0 to 7"),
        ("features", np.array([-1, 1, 4]), "features must be ascending numbers from 0 to 7"),
        ("features", np.array([1, 4, 8]), "features must be ascending numbers from 0 to 7"),
        ("features", np.array([[1, 4, 6]]), r"array 'features' has shape \(1, 3\)"),
        ("coef", np.zeros((1, 2)), r"array 'coef' has shape \(1, 2\), expected \(1, 3\)"),
        ("coef", np.zeros((1, 3), np.float32), "array 'coef' is float32, expected float64"),
        ("coef", np.full((1, 3), np.nan), "array 'coef' has values that are not finite"),
        ("intercept", np.array([np.inf]), "array 'intercept' has values that are not finite"),
        ("intercept", np.zeros((1, 1)), r"array 'intercept' has shape \(1, 1\)"),
        ("intercept", np.zeros(0), "intercept"),
        ("ranking", np.zeros((8, 1), np.int64), r"array 'ranking' has shape \(8, 1\)"),
        ("ranking", np.zeros(0, np.int64), "features must be ascending numbers"),
    ],
)
def test_spoiled_arrays_are_refused(parts, name, array, message):
    arrays, metadata = parts()
    if array is None:
        del arrays[name]
    else:
        arrays[name] = array
    with pytest.raises(DataError, match=message):
        load(ModelFile("estimator", arrays, metadata))


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("values", np.zeros((1, 3, 1)), "needs two knots"),
        ("values", np.zeros((1, 2, 5)), r"array 'values' has shape \(1, 2, 5\)"),
        ("values", np.full((1, 3, 5), np.nan), "array 'values' has values that are not finite"),
        ("low", np.full(3, 1e9), "with low <= high"),
        ("quantised", np.zeros(1), "array 'quantised' is float64, expected bool"),
        ("low", np.full(3, np.nan), "array 'low' has values that are not finite"),
        ("high", np.full(2, 1.0), r"array 'high' has shape \(2,\), expected \(3,\)"),
        ("high", None, "array 'high' is missing"),
    ],
)
def test_spoiled_piecewise_arrays_are_refused(parts, name, array, message):
    arrays, metadata = parts(response=Piecewise(4, ranges="full"))
    if array is None:
        del arrays[name]
    else:
        arrays[name] = array
    with pytest.raises(DataError, match=message):
        load(ModelFile("estimator", arrays, metadata))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"estimator": "Pipeline"}, "unknown estimator 'Pipeline'"),
        ({"estimator": None}, "unknown estimator None"),
        ({"estimator": ["FSAClassifier"]}, "unknown estimator"),
        ({"parameters": None}, "parameters of FSAClassifier do not fit"),
        ({"parameters": [1]}, "parameters of FSAClassifier do not fit"),
        ({"parameters": {"shell": "rm"}}, "parameters of FSAClassifier do not fit"),
        ({"parameters": {"response": "piecewise"}}, "response"),
        ({"parameters": {"response": ["linear"]}}, "response"),
        ({"classes": None}, "a classifier of 1 outputs needs 2 classes"),
        ({"classes": ["a"]}, "a classifier of 1 outputs needs 2 classes"),
        ({"classes": ["a", "b", "c"]}, "a classifier of 1 outputs needs 2 classes"),
        ({"classes": "ab"}, "a classifier of 1 outputs needs 2 classes"),
        ({"classes": [["a"], ["b", "c"]]}, "classes"),
        ({"classes": [{}, None]}, "classes"),
        ({"feature_names": ["a"]}, "1 feature names for 8 features"),
        ({"feature_names": 8}, "feature names"),
        ({"feature_names": [1, 2, 3, 4, 5, 6, 7, 8]}, "feature names"),
    ],
)
def test_spoiled_metadata_is_refused(parts, changes, message):
    arrays, metadata = parts()
    with pytest.raises(DataError, match=message):
        load(ModelFile("estimator", arrays, {**metadata, **changes}))


@pytest.mark.parametrize("name", ["estimator", "parameters", "classes"])
def test_missing_metadata_is_refused(parts, name):
    arrays, metadata = parts()
    del metadata[name]
    with pytest.raises(DataError, match="model file: "):
        load(ModelFile("estimator", arrays, metadata))


@pytest.mark.parametrize("name", ["one target", "ranks"])
def test_more_outputs_than_targets_are_refused(parts, name):
    arrays, metadata = parts(name)
    arrays["coef"] = np.vstack([arrays["coef"]] * 2)
    arrays["intercept"] = np.append(arrays["intercept"], 0)
    with pytest.raises(DataError, match="outputs"):
        load(ModelFile("estimator", arrays, metadata))


def test_files_without_a_ramp_give_probabilities_by_the_logistic_loss_only(parts, X):
    """So were those of version 0.1."""
    arrays, metadata = parts("two classes")
    del arrays["ramp"]
    model = load(ModelFile("estimator", arrays, metadata))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)))
    older = load(ModelFile("estimator", arrays, {**metadata, "loss": "lorenz"}))
    assert not hasattr(older, "predict_proba")


def test_ramps_that_fall_are_refused(parts):
    arrays, metadata = parts("three classes")
    arrays["ramp"] = np.array([1.0, -1.0, 0.0])
    with pytest.raises(DataError, match="the slopes of the ramp must be above 0"):
        load(ModelFile("estimator", arrays, metadata))


def test_responses_come_back_in_their_short_form(path, X):
    model = FSARegressor(k=2, n_iter=20, response=Piecewise(n_bins=4)).fit(X, X[:, 1])
    save(model, path)
    again = load_model(path)
    assert (again.response, again.n_bins) == ("piecewise", 4)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
