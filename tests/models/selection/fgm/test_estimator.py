"""The Feature Generating Machine as an estimator."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.features.errors import DataError, ParameterError
from annealed.models.selection import FeatureGeneratingMachine


@parametrize_with_checks(
    [
        FeatureGeneratingMachine(k=2),
        FeatureGeneratingMachine(k=2, loss="logistic", response="products"),
        FeatureGeneratingMachine(k=2, response="gaussian"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def table(rng):
    """Columns of very different scales and shifts, of which 3, 7 and 11 matter."""
    X = rng.standard_normal((300, 30)) * np.geomspace(0.1, 100, 30) + 5
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, Z[:, [3, 7, 11]] @ [1.0, -1.0, 0.8]


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("budget", [None, 1, 3])
def test_features_that_matter_are_found(table, loss, budget):
    X, score = table
    model = FeatureGeneratingMachine(k=3, loss=loss, budget=budget).fit(X, score > 0.5)
    np.testing.assert_array_equal(model.get_support(indices=True), [3, 7, 11])
    assert model.score(X, score > 0.5) > 0.97
    np.testing.assert_array_equal(np.flatnonzero(model.ranking_ == 1), [3, 7, 11])
    np.testing.assert_array_equal(np.sort(model.ranking_[model.ranking_ > 1]), np.arange(2, 29))


def test_coefficients_are_in_the_units_of_the_input(table):
    X, score = table
    model = FeatureGeneratingMachine(k=5).fit(X, score > 0.5)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])
    np.testing.assert_array_equal(np.flatnonzero(model.coef_[0]), model.get_support(indices=True))


def test_units_and_shifts_change_nothing(table):
    X, score = table
    one = FeatureGeneratingMachine(k=5).fit(X, score > 0.5)
    two = FeatureGeneratingMachine(k=5).fit(1000 * X - 77, score > 0.5)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(1000 * X - 77), atol=1e-6)


def test_unscaled_features_are_taken_as_they_are(table):
    X, score = table
    model = FeatureGeneratingMachine(k=1, budget=1, scale=False).fit(X, score > 0.5)
    y = np.where(score > 0.5, 1.0, -1.0)
    n_positive = np.sum(y > 0)
    # Without features, the squared hinge's intercept is the labels' mean, and alpha is 1 - y times it.
    dual = (1 - y * (2 * n_positive / 300 - 1)) * y
    assert model.get_support(indices=True) == [np.argmax(np.abs(X.T @ dual))]


@pytest.mark.parametrize("response", ["linear", "products"])
def test_sparse_input_gives_the_dense_result(rng, response):
    X = rng.standard_normal((150, 20)) * (rng.random((150, 20)) < 0.3)
    y = X[:, 2] - X[:, 5] + 0.2 * rng.standard_normal(150) > 0
    dense = FeatureGeneratingMachine(k=6, response=response, inner_tol=1e-10).fit(X, y)
    from_sparse = FeatureGeneratingMachine(k=6, response=response, inner_tol=1e-10).fit(csr_array(X), y)
    np.testing.assert_array_equal(dense.support_, from_sparse.support_)
    np.testing.assert_allclose(
        dense.decision_function(X), from_sparse.decision_function(csr_array(X)), atol=1e-5
    )


def test_three_classes_share_their_features(table, rng):
    X, score = table
    y = np.array(["low", "middle", "high"])[np.digitize(score, [-0.7, 0.7])]
    model = FeatureGeneratingMachine(k=6, loss="logistic").fit(X, y)
    assert model.coef_.shape == (3, 30)
    assert model.support_[[3, 7, 11]].all()
    assert model.support_.sum() == 6
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.7


def test_probabilities_need_the_logistic_loss(table):
    X, score = table
    model = FeatureGeneratingMachine(k=3, loss="logistic").fit(X, score > 0.5)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
    assert not hasattr(FeatureGeneratingMachine().fit(X, score > 0.5), "predict_proba")


def test_products_are_found_without_the_expansion(rng):
    X = rng.standard_normal((500, 25))
    y = X[:, 4] * X[:, 9] + X[:, 13] ** 2 - 1 > 0
    model = FeatureGeneratingMachine(k=2, response="products").fit(X, y)
    assert {tuple(pair) for pair in model.terms_} == {(4, 9), (13, 13)}
    np.testing.assert_array_equal(model.get_support(indices=True), [4, 9, 13])
    assert model.score(X, y) > 0.95


def test_products_agree_with_linear_selection_on_the_expansion(rng):
    X = rng.standard_normal((200, 6))
    y = X[:, 1] * X[:, 2] + 0.7 * X[:, 0] + 0.3 * rng.standard_normal(200) > 0
    expansion = PolynomialFeatures(2, include_bias=False)
    E = expansion.fit_transform(X)
    powers = expansion.powers_
    kinds = np.where(powers.sum(axis=1) == 1, np.sqrt(2), np.where(powers.max(axis=1) == 2, 1, np.sqrt(2)))
    peer = FeatureGeneratingMachine(k=5, scale=False, inner_tol=1e-10).fit(E * kinds, y)
    model = FeatureGeneratingMachine(k=5, response="products", scale=False, inner_tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(E * kinds), atol=1e-6)


@pytest.mark.parametrize("response", ["intersection", "gaussian"])
def test_additive_kernels_bend_where_lines_do_not(rng, response):
    X = rng.uniform(-2, 2, (600, 15))
    y = np.abs(X[:, 3]) + np.sin(3 * X[:, 8]) > 1
    model = FeatureGeneratingMachine(k=2, response=response).fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), [3, 8])
    assert model.score(X, y) > 0.88
    assert FeatureGeneratingMachine(k=2).fit(X, y).score(X, y) < 0.8


@pytest.mark.parametrize("structure", ["overlapping", "tree"])
def test_groups_leave_or_stay_as_a_whole(table, structure):
    X, score = table
    y = score > 0.5
    model = FeatureGeneratingMachine(k=3, feature_groups=np.arange(30) // 2, structure=structure).fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), [2, 3, 6, 7, 10, 11])


def test_overlapping_groups_add_up(table):
    X, score = table
    y = score > 0.5
    groups = [[3, 7], [7, 11], [3, 7, 11], *[[j] for j in range(30)]]
    model = FeatureGeneratingMachine(k=3, feature_groups=groups, budget=3).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0])
    assert set(model.get_support(indices=True)) <= {3, 7, 11}


def test_group_weights_decide_between_equal_groups(rng):
    X = rng.standard_normal((100, 2))
    X = X[:, [0, 0]]
    y = X[:, 0] > 0
    for favourite in (0, 1):
        weights = np.where(np.arange(2) == favourite, 2.0, 1.0)
        model = FeatureGeneratingMachine(k=1, feature_groups=[0, 1], group_weights=weights).fit(X, y)
        assert model.get_support(indices=True) == [favourite]


def test_weights_act_as_repetition(table):
    X, score = table
    weight = np.arange(300) % 3
    weighted = FeatureGeneratingMachine(k=4, inner_tol=1e-10).fit(X, score > 0.5, sample_weight=weight)
    repeated = FeatureGeneratingMachine(k=4, inner_tol=1e-10).fit(
        np.repeat(X, weight, axis=0), np.repeat(score > 0.5, weight)
    )
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)


def test_class_weights_act_as_sample_weights(table):
    X, score = table
    y = score > 0.5
    one = FeatureGeneratingMachine(k=4, class_weight={False: 1, True: 3}).fit(X, y)
    two = FeatureGeneratingMachine(k=4).fit(X, y, sample_weight=np.where(y, 3.0, 1.0))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_no_k_ends_at_the_optimum(table):
    X, score = table
    model = FeatureGeneratingMachine(k=None, budget=2, C=0.01, tol=1e-2, inner_tol=1e-8).fit(X, score > 0.5)
    assert model.trace_.gap <= 1e-2
    assert 2 <= model.support_.sum() < 30


def test_constant_columns_are_never_selected(rng):
    X = rng.standard_normal((60, 4)).astype(np.float32)
    X[:, 1] = 3.3
    X[:, 2] = 0
    y = X[:, 0] + 0.1 * X[:, 3] > 0
    for table in (X, csr_array(X)):
        model = FeatureGeneratingMachine(k=4, budget=4).fit(table, y)
        np.testing.assert_array_equal(model.get_support(indices=True), [0, 3])


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 2.5}, "k must be"),
        ({"budget": 0}, "budget must be"),
        ({"max_cuts": None}, "max_cuts must be"),
        ({"C": 0}, "C must be positive"),
        ({"gamma": "1"}, "gamma must be positive"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"response": "cubic"}, "response must be one of"),
        ({"structure": "graph"}, "structure must be one of"),
        ({"feature_groups": [0, 1, 1], "response": "products"}, "feature_groups need"),
        ({"feature_groups": [[0], [1]]}, "cover all features"),
        ({"feature_groups": [0, 1, 1], "group_weights": [1, 2, 3]}, "2 positive numbers"),
        ({"feature_groups": [0, 1, 1], "group_weights": [1, -2]}, "2 positive numbers"),
    ],
)
def test_bad_parameters(rng, parameters, match):
    model = FeatureGeneratingMachine(**{"k": 2, **parameters})
    with pytest.raises((ParameterError, DataError), match=match):
        model.fit(rng.standard_normal((10, 3)), np.arange(10) % 2)


def test_k_beyond_the_table_warns(rng):
    X = rng.standard_normal((30, 3))
    with pytest.warns(UserWarning, match="k = 9 exceeds the 3 features"):
        FeatureGeneratingMachine(k=9).fit(X, X[:, 0] > 0)


def test_bad_data(rng):
    X = rng.standard_normal((10, 3))
    with_nan = X.copy()
    with_nan[4, 1] = np.nan
    model = FeatureGeneratingMachine(k=2)
    with pytest.raises(DataError, match="two classes"):
        model.fit(X, np.ones(10))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, np.arange(9) % 2)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_nan, np.arange(10) % 2)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        FeatureGeneratingMachine(response="gaussian").fit(csr_array(X), np.arange(10) % 2)
