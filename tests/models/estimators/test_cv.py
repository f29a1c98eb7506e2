import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from annealed.features.errors import ParameterError
from annealed.models import FSAClassifier, FSAClassifierCV, FSARegressor, FSARegressorCV
from annealed.models.penalties import FadingRidge

SHORT = {"n_iter": 60, "random_state": 0}


@pytest.fixture(name="X")
def make_table(rng):
    return rng.standard_normal((120, 14))


def values(rng, X):
    return X[:, 2] + X[:, 5] - X[:, 9] + 0.1 * rng.standard_normal(120)


def classes(rng, X):
    return np.where(values(rng, X) > 0, "yes", "no")


PAIRS = [(FSAClassifierCV, FSAClassifier, classes), (FSARegressorCV, FSARegressor, values)]


@pytest.mark.parametrize(("chooser", "single", "target"), PAIRS)
@pytest.mark.parametrize("response", ["linear", "piecewise"])
def test_finds_the_size_and_fits_it_on_all(rng, X, chooser, single, target, response):
    y = target(rng, X)
    model = chooser(k=[1, 3, 10], cv=3, response=response, **SHORT).fit(X, y)
    assert model.k_ == 3
    assert model.get_support(indices=True).tolist() == [2, 5, 9]
    alone = single(k=3, response=response, **SHORT).fit(X, y)
    np.testing.assert_array_equal(model.ranking_, alone.ranking_)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))


@pytest.mark.parametrize(("chooser", "single", "target"), PAIRS)
def test_scores_are_those_of_the_path_on_held_out_rows(rng, X, chooser, single, target):
    """The largest size of a fold's path is a run of its own, which can be repeated."""
    y = target(rng, X)
    folds = StratifiedKFold(3) if chooser is FSAClassifierCV else KFold(3)
    model = chooser(k=[2, 6], cv=folds, **SHORT).fit(X, y)
    results = model.cv_results_
    assert results["k"].tolist() == [2, 6]
    assert results["split_test_scores"].shape == (3, 2)
    expected = [
        single(k=6, **SHORT).fit(X[train], y[train]).score(X[test], y[test])
        for train, test in folds.split(X, y)
    ]
    np.testing.assert_allclose(results["split_test_scores"][:, 1], expected)
    np.testing.assert_allclose(results["mean_test_score"], results["split_test_scores"].mean(axis=0))
    np.testing.assert_allclose(results["std_test_score"], results["split_test_scores"].std(axis=0))


def test_smallest_of_equal_sizes_wins(rng, X):
    y = np.where(X[:, 4] > 0, 1, 0)
    X[:, 4] += np.where(y, 5, -5)  # one feature separates without error, whatever else is selected
    model = FSAClassifierCV(k=[4, 2, 1], cv=3, **SHORT).fit(X, y)
    assert (model.cv_results_["mean_test_score"] == 1).all()
    assert model.k_ == 1


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc", "neg_log_loss"])
def test_scoring_by_name_and_by_callable(rng, X, scoring):
    y = classes(rng, X)
    options = {"k": [1, 3], "cv": 2, "loss": "logistic", **SHORT}
    named = FSAClassifierCV(scoring=scoring, **options).fit(X, y)
    called = FSAClassifierCV(scoring=get_scorer(scoring), **options).fit(X, y)
    np.testing.assert_array_equal(
        named.cv_results_["split_test_scores"], called.cv_results_["split_test_scores"]
    )


def test_default_sizes_go_up_to_the_table(rng, X):
    model = FSARegressorCV(cv=2, n_iter=30).fit(X, values(rng, X))
    assert model.cv_results_["k"].tolist() == [1, 2, 3, 5, 8, 12]


def test_sizes_count_groups(rng, X):
    groups = np.arange(14) // 2
    model = FSARegressorCV(k=[1, 2, 3, 9], cv=2, feature_groups=groups, **SHORT).fit(X, values(rng, X))
    assert model.cv_results_["k"].tolist() == [1, 2, 3]
    assert model.k_ == 3
    assert model.support_.sum() == 6


def test_multi_class_and_multi_target(rng, X):
    labels = np.argmax(X[:, [2, 5, 9]], axis=1)
    assert FSAClassifierCV(k=[1, 3], cv=2, **SHORT).fit(X, labels).k_ == 3
    targets = np.column_stack([X[:, 2] + X[:, 5], X[:, 9]])
    model = FSARegressorCV(k=[1, 3], cv=2, **SHORT).fit(X, targets)
    assert model.k_ == 3
    assert model.predict(X).shape == (120, 2)


@pytest.mark.parametrize(("chooser", "single", "target"), PAIRS)
def test_sparse_tables(rng, X, chooser, single, target):
    X = X * (np.abs(X) > 0.2)
    model = chooser(k=[1, 3], cv=2, **SHORT).fit(sparse.csr_array(X), target(rng, X))
    assert model.get_support(indices=True).tolist() == [2, 5, 9]


@pytest.mark.parametrize(("chooser", "single", "target"), PAIRS)
def test_weights_reach_every_fold(rng, X, chooser, single, target):
    """Samples without weight do not train: their targets may be anything."""
    y = target(rng, X)
    weight = np.ones(120)
    weight[::4] = 0
    corrupted = y.copy()
    corrupted[::4] = rng.permutation(y[::4])
    options = {"k": [1, 3], "cv": KFold(3), **SHORT}
    one, other = (chooser(**options).fit(X, t, sample_weight=weight) for t in (y, corrupted))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("k", [5, "all", [], 2.5])
def test_sizes_that_are_no_sequence_are_refused(rng, X, k):
    with pytest.raises(ParameterError, match=r"k must be a sequence|an array-like or None"):
        FSARegressorCV(k=k, **SHORT).fit(X, values(rng, X))


@pytest.mark.parametrize(
    ("k", "message"),
    [
        ([0, 3], "k must hold integer sizes of at least 1, got 0"),
        ([-1], "k must hold integer sizes of at least 1, got -1"),
        ([1, 2.5], "k must hold integer sizes of at least 1, got 2.5"),
        ([1, "three"], "k must hold integer sizes of at least 1, got 'three'"),
        ([15, 20], r"k must hold a size of at most 14, got \[15, 20\]"),
    ],
)
def test_bad_sizes_are_refused(rng, X, k, message):
    with pytest.raises(ParameterError, match=message):
        FSARegressorCV(k=k, **SHORT).fit(X, values(rng, X))


def test_unknown_scoring_is_refused(rng, X):
    with pytest.raises(ValueError, match="scoring"):
        FSARegressorCV(k=[1], scoring="beauty", **SHORT).fit(X, values(rng, X))


def test_more_folds_than_samples_are_refused(rng, X):
    with pytest.raises(ValueError, match="Cannot have number of splits n_splits=200 greater"):
        FSARegressorCV(k=[1], cv=200, **SHORT).fit(X, values(rng, X))


class Together(GroupKFold):
    """Checks itself that groups are never cut."""

    def split(self, X, y=None, groups=None):
        for train, test in super().split(X, y, groups):
            assert not set(groups[train]) & set(groups[test])
            yield train, test


@pytest.mark.parametrize(("chooser", "single", "target"), PAIRS)
@pytest.mark.parametrize("routing", [False, True])
def test_groups_of_samples_reach_the_splitter(rng, X, chooser, single, target, routing):
    y, groups = target(rng, X), rng.integers(0, 6, 120)
    with config_context(enable_metadata_routing=routing):
        model = chooser(k=[1, 3], cv=Together(3), **SHORT).fit(X, y, groups=groups)
        expected = [
            single(k=3, **SHORT).fit(X[train], y[train]).score(X[test], y[test])
            for train, test in GroupKFold(3).split(X, y, groups)
        ]
        np.testing.assert_allclose(model.cv_results_["split_test_scores"][:, 1], expected)
        with pytest.raises(ValueError, match="'groups' parameter should not be None"):
            chooser(k=[1, 3], cv=GroupKFold(3), **SHORT).fit(X, y)


def test_groups_are_routed_through_a_pipeline(rng, X):
    y, groups = classes(rng, X), rng.integers(0, 6, 120)
    with config_context(enable_metadata_routing=True):
        chooser = FSAClassifierCV(k=[1, 3], cv=Together(3), **SHORT)
        model = make_pipeline(StandardScaler(), chooser).fit(X, y, groups=groups)
        assert model[-1].k_ == 3
        chooser.set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        weighted = make_pipeline(scaler, chooser).fit(X, y, groups=groups, sample_weight=np.ones(120))
    np.testing.assert_array_equal(model.predict(X), weighted.predict(X))


@pytest.mark.parametrize("estimator", [FSAClassifierCV, FSARegressorCV])
def test_the_size_is_chosen_for_rows_that_stay_on_disk_as_for_the_array(tmp_path, rng, estimator):
    X = (rng.standard_normal((1500, 12)) + 1).astype(np.float32)
    score = X[:, 0] - X[:, 3] + 0.5 * rng.standard_normal(1500)
    y = score > 0 if estimator is FSAClassifierCV else score
    # What does not look at the whole table first, and a score that few rows do not decide.
    classifier, regressor = {"loss": "logistic", "scoring": "accuracy"}, {"max_swaps": 0, "penalty": None}
    options = classifier if estimator is FSAClassifierCV else regressor
    np.save(tmp_path / "X.npy", X)
    weight = np.linspace(0, 2, 1500)
    cv = ShuffleSplit(2, random_state=0)
    models = [
        estimator([1, 2], cv=cv, n_iter=150, **options).fit(table, y, weight)
        for table in (X, tmp_path / "X.npy")
    ]
    assert models[0].k_ == models[1].k_
    scores = [model.cv_results_["split_test_scores"] for model in models]
    np.testing.assert_allclose(scores[0], scores[1], atol=0.02)
    np.testing.assert_array_equal(models[0].get_support(), models[1].get_support())


def test_loss_and_ridge_are_chosen_along_with_the_size(rng, X):
    y = classes(rng, X)
    model = FSAClassifierCV(
        k=[1, 3], cv=3, losses=["lorenz", "logistic"], ridges=[0.1, 30.0], loss="huber", **SHORT
    ).fit(X, y)
    results = model.cv_results_
    assert results["split_test_scores"].shape == (3, 8)
    assert results["k"].tolist() == [1, 3] * 4
    assert results["loss"].tolist() == ["lorenz"] * 4 + ["logistic"] * 4
    assert results["ridge"].tolist() == [0.1, 0.1, 30, 30] * 2
    best = int(np.argmax(results["mean_test_score"]))
    chosen = model.k_, model.loss_, model.ridge_
    assert chosen == (results["k"][best], results["loss"][best], results["ridge"][best])
    penalty = FadingRidge(model.ridge_, 120, (model.k_,), least=1.0)
    alone = FSAClassifier(k=model.k_, loss=model.loss_, penalty=penalty, batch_size=None, **SHORT).fit(X, y)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    assert (model.loss, model.penalty, model.batch_size) == ("huber", "auto", "auto")


def test_ridges_of_a_regressor(rng, X):
    model = FSARegressorCV(k=[3], cv=3, ridges=[0.0, 1.0], **SHORT).fit(X, values(rng, X))
    assert model.ridge_ in (0.0, 1.0)
    assert model.get_support(indices=True).tolist() == [2, 5, 9]


def test_the_logistic_loss_is_scored_by_its_likelihood(rng, X):
    y = classes(rng, X)
    options = {"k": [1, 3], "cv": 3, "loss": "logistic", **SHORT}
    model = FSAClassifierCV(**options).fit(X, y)
    named = FSAClassifierCV(scoring="neg_log_loss", **options).fit(X, y)
    scores = (one.cv_results_["split_test_scores"] for one in (model, named))
    np.testing.assert_allclose(*scores)


def test_a_class_that_training_rows_lack_counts_as_impossible(rng, X):
    y = np.repeat(["a", "b", "c"], [60, 50, 10])
    folds = [(np.arange(110), np.arange(100, 120))]
    model = FSAClassifierCV(k=[2], cv=folds, loss="logistic", **SHORT).fit(X, y)
    assert model.cv_results_["mean_test_score"][0] < np.log(1e-15) / 2


@pytest.mark.parametrize(
    "options", [{"ridges": [-1.0]}, {"ridges": []}, {"losses": []}, {"ridges": ["much"]}]
)
def test_what_is_no_candidate_is_refused(rng, X, options):
    with pytest.raises(ParameterError, match=r"ridges must|losses and ridges must"):
        FSAClassifierCV(k=[2], **options).fit(X, classes(rng, X))
