"""Names, categories and missing values, through the estimators."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectFromModel

from annealed.features.errors import DataError, ParameterError
from annealed.models import FSAClassifier, FSARegressor, FSARegressorCV, load_model, plot_responses

CURVES = {"response": "piecewise", "n_iter": 60}


@pytest.fixture(name="table")
def table_with_holes(rng):
    n = 400
    frame = pd.DataFrame(
        {
            "color": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "size": rng.standard_normal(n),
            "flag": rng.integers(0, 2, n),
            "noise": rng.standard_normal(n),
        }
    )
    y = 2.0 * (frame["color"] == "red") + frame["size"] ** 2 + 2.0 * frame["flag"]
    y = y + 0.1 * rng.standard_normal(n)
    frame.loc[:30, "size"] = np.nan
    return frame, y


def test_categories_and_missing_values_are_fitted_and_kept_in_files(table, tmp_path):
    X, y = table
    model = FSARegressor(3, **CURVES).fit(X, y)
    assert model.get_feature_names_out().tolist() == ["color", "size", "flag"]
    assert model.score(X[31:], y[31:]) > 0.95
    assert model.categories_ == {0: ["blue", "green", "red"]}
    model.save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_text_is_refused_or_made_categories(table):
    X, y = table
    X = X.assign(color=X["color"].astype(str))
    with pytest.raises(DataError, match='column color of X: text; categories="text" makes'):
        FSARegressor(2, **CURVES).fit(X, y)
    model = FSARegressor(3, categories="text", **CURVES).fit(X, y)
    assert model.score(X[31:], y[31:]) > 0.9


def test_numbers_of_an_array_can_be_categories(rng):
    X = rng.integers(0, 4, (300, 3)).astype(float)
    y = np.array([0.0, 3.0, 1.0, 2.0])[X[:, 1].astype(int)]
    model = FSARegressor(1, categories=[1], **CURVES).fit(X, y)
    assert model.categories_ == {1: [0.0, 1.0, 2.0, 3.0]}
    np.testing.assert_allclose(model.predict(X), y, atol=0.05)


@pytest.mark.parametrize("value", ["pink", None])
def test_unseen_categories_are_missing_or_an_error(table, value):
    X, y = table
    strange = X.assign(color=pd.Series([value] * len(X), dtype=object))
    model = FSARegressor(2, **CURVES).fit(X, y)
    assert np.isfinite(model.predict(strange)).all()
    strict = FSARegressor(2, unseen="error", **CURVES).fit(X, y)
    if value is None:
        assert np.isfinite(strict.predict(strange)).all()
    else:
        with pytest.raises(DataError, match="color has the category 'pink', which no training row had"):
            strict.predict(strange)


def test_linear_models_refuse_or_fill_in(table):
    X, y = table
    with pytest.raises(DataError, match="columns of categories, which a linear response cannot take"):
        FSARegressor(2).fit(X, y)
    X = X[["size", "flag", "noise"]]
    with pytest.raises(DataError, match=r'X contains NaN: column size; missing="mean" fills in means'):
        FSARegressor(2).fit(X, y)
    model = FSARegressor(2, missing="mean").fit(X, y)
    np.testing.assert_allclose(model.fill_values_, X.mean())
    np.testing.assert_allclose(model.predict(X), model.predict(X.fillna(X.mean())))


def test_columns_without_a_value_are_told(table):
    X, y = table
    X = X.assign(empty=np.nan)
    with pytest.warns(UserWarning, match=r"no value at all and are left out: \['empty'\]"):
        model = FSARegressor(2, **CURVES).fit(X, y)
    assert not model.support_[4]
    with pytest.raises(DataError, match="column empty of X: no value at all"):
        FSARegressor(2, missing="mean").fit(X.drop(columns="color"), y)


def test_cross_validation_takes_the_same_tables(table):
    X, y = table
    model = FSARegressorCV([1, 2, 3], cv=3, monotone={"flag": 1}, **CURVES).fit(X, y)
    assert model.k_ == 3
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert model.score(X[31:], y[31:]) > 0.95


@pytest.mark.parametrize("estimator", [FSARegressor, FSAClassifier])
@pytest.mark.parametrize("loss", ["exact", "annealed"])
def test_monotone_columns(rng, estimator, loss):
    """By the exact fit, and by losses that are only annealed."""
    X = rng.standard_normal((400, 4))
    y = X[:, 1] + np.sin(3 * X[:, 1])
    given = {"exact": {}, "annealed": {"loss": "huber_error" if estimator is FSARegressor else "huber"}}
    y = y if estimator is FSARegressor else y > 0
    model = estimator(2, monotone={1: 1, 2: -1}, always_keep=[1, 2], **given[loss], **CURVES).fit(X, y)
    rising, falling = model.model_.curves
    assert (np.diff(rising.values[0, :-1]) >= 0).all()
    assert np.ptp(rising.values[0, :-1]) > 1
    assert (np.diff(falling.values[0, :-1]) <= 0).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"monotone": {"color": 1}}, "'color' is a category, whose values have no order"),
        ({"monotone": {"weight": 1}}, "there is no column 'weight' in X"),
        ({"monotone": {9: 1}}, "9 is no column of X"),
        ({"monotone": {"size": 2}}, r"monotone must be \+1 \(rising\) or -1 \(falling\), got 2"),
        ({"n_pairs": 7}, "n_pairs = 7 exceeds the 6 pairs of 4 columns"),
        ({"n_pairs": 1, "loss": "huber_error"}, "n_pairs needs the squared error or the logistic loss"),
        ({"n_pairs": 1, "response": "linear", "missing": "mean"}, "need response="),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(table, given, message):
    X, y = table
    X = X.drop(columns="color").assign(other=0.5 * X["flag"]) if given.get("response") == "linear" else X
    with pytest.raises(ParameterError, match=message):
        FSARegressor(3, **(CURVES | given)).fit(X, y)


def test_pairs_explanation_importances_and_pictures(rng):
    X = rng.standard_normal((500, 6))
    y = X[:, 0] * X[:, 3] + X[:, 1]
    model = FSARegressor(1, n_pairs=1, **CURVES).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 3]
    assert model.score(X, y) > 0.9
    told = model.explain(X)
    assert told.terms == ("column 1", "column 0 x column 3")
    np.testing.assert_allclose(told.values.sum(axis=2)[0] + told.intercept, model.predict(X))
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert SelectFromModel(model, prefit=True, threshold=0.1).transform(X).shape == (500, 3)
    assert [ax.get_title() for ax in plot_responses(model)]


def test_terms_can_be_left_out_and_models_averaged(table):
    X, y = table
    one, other = (
        FSARegressor(3, **CURVES).fit(X[part], y[part]) for part in (slice(0, 200), slice(200, 400))
    )
    short = one.without_terms("flag")
    assert short.get_feature_names_out().tolist() == ["color", "size"]
    assert one.support_.sum() == 3
    expected = (one.predict(X) + other.predict(X)) / 2
    np.testing.assert_allclose(one.averaged_with(other).predict(X), expected)
    with pytest.raises(ParameterError, match="there is no term 'sizes'; there are color, size, flag"):
        one.without_terms("sizes")
    with pytest.raises(DataError, match="must have the same kind, columns, categories and classes"):
        one.averaged_with(FSARegressor(3, **CURVES).fit(X[["size", "flag", "noise"]], y))
