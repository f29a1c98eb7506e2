"""One table, however it is stored and wherever it is fitted, gives one model."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import annealed
from annealed.datasets.rows import open_rows
from annealed.features.errors import DataError, ParameterError
from annealed.models import FSAClassifier, FSARanker, FSARegressor, Piecewise, row_preparation
from annealed.models.signal_share import signal_share

N, M, K = 3000, 30, 4
SMALL = 6_000_000  # of which a half is for rows' own numbers: the columns do not fit


@pytest.fixture
def table(rng):
    X = (rng.standard_normal((N, M)) * 10.0 ** rng.integers(-2, 3, M) + 5).astype(np.float32)
    score = ((X[:, :K] - 5) / X[:, :K].std(axis=0)) @ np.array([1, -1, 0.8, 1.2])
    return X, score + 0.5 * rng.standard_normal(N)


def write_parquet(folder, X, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(np.array_split(np.arange(len(X)), 3)):
        features = {f"x{j}": column[rows] for j, column in enumerate(X.T)}
        more = {name: values[rows] for name, values in columns.items()}
        parquet.write_table(
            pyarrow.table({**features, **more}), folder / f"part-{number}.parquet", row_group_size=400
        )
    return folder


@pytest.fixture
def streamed(monkeypatch):
    """Let survivors be gathered only when few are left, and all columns be spooled."""
    divide = row_preparation.divide_memory

    def little(*arguments):
        plan = divide(*arguments)
        return type(plan)(plan.part_bytes, N * M * 4 // 3)

    monkeypatch.setattr(row_preparation, "divide_memory", little)


def assert_same_model(found, expected, rtol=1e-3):
    np.testing.assert_array_equal(found.get_support(indices=True), expected.get_support(indices=True))
    a, b = (e.coef_ if hasattr(e, "coef_") else e.knot_values_ for e in (found, expected))
    np.testing.assert_allclose(a, b, atol=rtol * np.abs(b).max())


@pytest.mark.parametrize("response", ["linear", "piecewise"])
@pytest.mark.parametrize("task", ["two classes", "three classes", "numbers"])
def test_streamed_rows_give_the_model_of_the_array(table, tmp_path, streamed, response, task):
    X, score = table
    np.save(tmp_path / "X.npy", X)
    if task == "numbers":
        estimator, y = FSARegressor(K, response=response, tol=1e-7, max_swaps=0), score
    else:
        y = np.digitize(score, [0] if task == "two classes" else [-1, 1])
        estimator = FSAClassifier(K, loss="logistic", response=response, n_iter=1000, tol=1e-7)
    weight = np.linspace(0, 2, N)
    expected = estimator.fit(X, y, weight)
    predicted = expected.predict(X)
    coef = expected.coef_ if response == "linear" else expected.knot_values_
    support, ramp = expected.get_support(), getattr(expected, "ramp_", None)
    found = estimator.fit(str(tmp_path / "X.npy"), y, weight)
    np.testing.assert_array_equal(found.get_support(), support)
    np.testing.assert_allclose(
        found.coef_ if response == "linear" else found.knot_values_, coef, atol=5e-3 * np.abs(coef).max()
    )
    again = found.predict(tmp_path / "X.npy")
    np.testing.assert_array_equal(again, found.predict(X))
    if task == "numbers":
        np.testing.assert_allclose(again, predicted, atol=0.02)
    else:
        assert np.mean(again == predicted) > 0.995
        np.testing.assert_array_equal(found.ramp_, ramp)
        assert found.predict_proba(tmp_path / "X.npy").shape == (N, len(found.classes_))


def test_the_budget_decides_where_columns_are_and_nothing_else(table, tmp_path):
    X, score = table
    np.save(tmp_path / "X.npy", X)
    models = []
    for budget in ("1GB", "2 MB"):
        models.append(FSAClassifier(K, memory_budget=budget).fit(tmp_path / "X.npy", score > 0))
    assert_same_model(*models, rtol=1e-5)


def test_all_formats_give_the_same_bits(table, tmp_path, streamed):
    X, score = table
    y = score > 0
    np.save(tmp_path / "X.npy", X)
    folder = write_parquet(tmp_path / "table", X, y=y)
    inputs = [
        (tmp_path / "X.npy", y),
        (open_rows(X), y),
        (str(folder), "y"),
        (np.load(tmp_path / "X.npy", "r"), y),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annealed.models.estimators.row_inputs.DEFAULT_BUDGET", 10**7)
        models = [FSAClassifier(K).fit(*given) for given in inputs[:3]]
        models.append(FSAClassifier(K, memory_budget=None).fit(open_rows(inputs[3][0]), y))
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.ranking_, models[0].ranking_)


def test_sparse_rows_give_the_model_of_the_sparse_matrix(table, tmp_path, streamed):
    X, score = table
    matrix = sparse.csr_array(np.where(np.abs(X - 5) > np.abs(X - 5).mean(axis=0), X - 5, 0))
    sparse.save_npz(tmp_path / "X.npz", matrix)
    model = FSAClassifier(K, loss="logistic", n_iter=1000, tol=1e-7)
    expected = model.fit(matrix, score > 0).coef_.copy()
    found = model.fit(tmp_path / "X.npz", score > 0)
    np.testing.assert_allclose(found.coef_, expected, atol=5e-3 * np.abs(expected).max())
    np.testing.assert_allclose(
        found.decision_function(tmp_path / "X.npz"), found.decision_function(matrix), rtol=1e-5, atol=1e-5
    )


def test_weights_of_zero_are_as_if_the_rows_were_not_there(table, streamed):
    X, score = table
    weight = np.ones(N)
    weight[::3] = 0
    y = np.where(weight > 0, score > 0, 7)  # what weighs nothing has a class of its own
    found = FSAClassifier(K).fit(open_rows(X), y, weight)
    assert found.classes_.tolist() == [0, 1]
    expected = FSAClassifier(K).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(found.get_support(), expected.get_support())


def test_the_ranker_keeps_groups_together(table, streamed):
    X, score = table
    qid = np.repeat(np.arange(N // 10), 10)
    model = FSARanker(K, tol=1e-7)
    expected = model.fit(X, score, qid=qid).coef_.copy()
    found = model.fit(open_rows(X), score, qid=qid)
    np.testing.assert_allclose(found.coef_, expected, atol=1e-3 * np.abs(expected).max())


def test_feature_groups_and_always_keep(table, streamed):
    X, score = table
    groups = np.arange(M) // 2
    given = {"feature_groups": groups, "always_keep": [20]}
    found = FSAClassifier(3, **given).fit(open_rows(X), score > 0)
    expected = FSAClassifier(3, **given).fit(X, score > 0)
    np.testing.assert_array_equal(found.get_support(), expected.get_support())


@pytest.mark.parametrize("ranges", ["trimmed", "full"])
def test_ranges_are_those_of_the_array(table, tmp_path, ranges):
    X, score = table
    X[17, 0] = 1e6  # far out
    folder = write_parquet(tmp_path / "table", X, y=score > 0)
    np.save(tmp_path / "X.npy", X)
    model = FSAClassifier(K, response=Piecewise(ranges=ranges))
    expected = model.fit(X, score > 0).model_
    for rows, y in ((folder, "y"), (tmp_path / "X.npy", score > 0)):
        found = FSAClassifier(K, response=Piecewise(ranges=ranges)).fit(rows, y).model_
        shared = np.isin(expected.features, found.features)
        assert shared.any()
        place = np.searchsorted(found.features, expected.features[shared])
        np.testing.assert_array_equal(found.low[place], expected.low[shared])
        np.testing.assert_array_equal(found.high[place], expected.high[shared])


def test_names_tell_the_features_of_another_table(table, tmp_path):
    X, score = table
    folder = write_parquet(tmp_path / "table", X, y=score > 0, weight=np.ones(N))
    model = FSAClassifier(K).fit(folder, "y", "weight")
    assert model.feature_names_in_.tolist() == [f"x{j}" for j in range(M)]
    found, expected = model.decision_function(folder), model.decision_function(open_rows(X))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    other = write_parquet(tmp_path / "other", X[:, :1])
    with pytest.raises(DataError, match=r"other: the feature 'x1' of the model is missing"):
        model.predict(other)


def test_a_saved_model_forgets_the_budget(table, tmp_path):
    X, score = table
    FSAClassifier(K, memory_budget="1GB").fit(X, score > 0).save(tmp_path / "m.safetensors")
    assert annealed.load_model(tmp_path / "m.safetensors").memory_budget is None


def test_columns_that_are_left_out_are_told(table, tmp_path):
    X, score = table
    folder = write_parquet(tmp_path / "table", X, y=score > 0, city=np.full(N, "Oslo"))
    with pytest.warns(UserWarning, match="column city is left out: it is not numeric"):
        FSAClassifier(K).fit(folder, "y")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, y[:-1]), "y has 2999 values, X has 3000 rows"),
        (lambda X, y: (np.zeros_like(X), y), "every feature is constant"),
        (lambda X, y: (np.where(np.arange(N)[:, None] == 7, np.nan, X), y), "X, row 7: column 0 is nan"),
        (lambda X, y: (X, np.ones(N)), "at least two classes"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_one_line(table, change, message):
    X, y = change(table[0], table[1] > 0)
    with pytest.raises(DataError, match=message) as problem:
        FSAClassifier(K).fit(open_rows(X), y)
    assert "\n" not in str(problem.value)


def test_budgets_that_cannot_be_are_refused(table):
    X, score = table
    with pytest.raises(ParameterError, match=r"memory_budget of 0.0 MB is too small for 3000 rows"):
        FSAClassifier(K, memory_budget=1000).fit(X, score > 0)
    with pytest.raises(ParameterError, match="a number of bytes or a text"):
        FSAClassifier(K, memory_budget="much").fit(X, score > 0)
    with pytest.raises(DataError, match="no such file"):
        FSAClassifier(K).fit("nowhere.npy", "y")


def test_arrays_within_the_budget_are_held_in_memory(table):
    X, score = table
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = FSAClassifier(K, memory_budget="1GB").fit(X, score > 0)
    np.testing.assert_array_equal(held.coef_, FSAClassifier(K).fit(X, score > 0).coef_)


def test_the_default_classifier_adapts_as_in_memory(table, tmp_path, streamed):
    X, score = table
    np.save(tmp_path / "X.npy", X)
    rng = np.random.default_rng(3)
    for y in (score > 0, rng.permutation(score) + 0.1 * score > 0, np.digitize(score, [-1, 1])):
        weight = np.where(np.arange(N) % 7 == 0, 0.0, 1.0)
        models = [FSAClassifier(K).fit(table, y, weight) for table in (X, tmp_path / "X.npy")]
        assert models[0].loss_ == models[1].loss_
        np.testing.assert_array_equal(models[0].get_support(), models[1].get_support())
    assert models[0].loss_ == "logistic"


def test_the_share_of_a_signal_is_that_of_the_table_in_memory(table, tmp_path):
    X, score = table
    X = np.concatenate([X, X[:50]])  # samples that are there twice
    targets = np.concatenate([score, score[:50]])[None]
    np.save(tmp_path / "X.npy", X)
    matrix = sparse.csr_array(np.where(X > 5, X, 0))
    sources = [(X, open_rows(tmp_path / "X.npy")), (matrix, open_rows(matrix))]
    sources.append((X, open_rows(write_parquet(tmp_path / "table", X))))
    for values, rows in sources:
        found, wanted = (signal_share(given, targets, np.random.default_rng(0)) for given in (rows, values))
        assert found == wanted


@pytest.mark.parametrize("is_sparse", [False, True])
def test_exchanges_are_those_of_the_table_in_memory(rng, streamed, is_sparse):
    X = rng.standard_normal((N, M)).astype(np.float32)
    if is_sparse:
        X = np.where(np.abs(X) > 1, X, 0).astype(np.float32)
    X[:, 7] = 0 if is_sparse else 2.5  # never selected
    X[:, 20] = X[:, 0] + X[:, 1] + 0.2 * X[:, 2]  # stands for both at first
    y = X[:, 0] + X[:, 1] + 0.1 * rng.standard_normal(N)
    given = sparse.csr_array(X) if is_sparse else X
    options = {"mu": 1e5, "n_iter": 10}  # features leave at once, so that there is something to exchange
    alone = [FSARegressor(2, max_swaps=n, **options).fit(given, y) for n in (0, 100)]
    found = FSARegressor(2, **options).fit(open_rows(given), y)
    assert 20 in alone[0].get_support(indices=True)
    assert alone[1].get_support(indices=True).tolist() == [0, 1]
    np.testing.assert_array_equal(found.ranking_, alone[1].ranking_)
    np.testing.assert_allclose(found.coef_, alone[1].coef_, atol=1e-3)


def test_columns_that_cannot_be_squared_are_left_out_with_a_word(table, tmp_path):
    X = table[0].astype(np.float64)
    X[:, 11] *= 1e200
    X[:, 12] = 1e9 + 1e-7 * X[:, 12]
    np.save(tmp_path / "X.npy", X)
    with pytest.warns(UserWarning, match="column 11 of X left out: values too large"):
        found = FSARegressor(K, max_swaps=0).fit(tmp_path / "X.npy", table[1])
    assert found.get_support(indices=True).tolist() == list(range(K))
    assert np.isfinite(found.coef_).all()
