"""Fits beside other processes and threads: after a fork, in worker processes, in several threads at once."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from annealed.features.threads import get_num_threads, set_num_threads
from annealed.models import FSAClassifier

PROGRAM = """
import os, sys
import numpy as np
from joblib import parallel_backend
from sklearn.model_selection import GridSearchCV
from annealed.features.threads import set_num_threads
from annealed.models import FSAClassifier

if __name__ == "__main__":
    set_num_threads(2)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 1000)).astype(np.float32)  # large enough for threads
    y = X[:, :3].sum(axis=1) > 0
    classifier = FSAClassifier(k=3, loss="logistic", n_iter=20)
    first = classifier.fit(X, y).coef_
    if sys.argv[1] == "fork":
        child = os.fork()
        same = (classifier.fit(X, y).coef_ == first).all()
        if child == 0:
            os._exit(0 if same else 1)
        print(os.waitpid(child, 0)[1], same)
    else:
        grid = {"k": [2, 3]}
        alone = GridSearchCV(classifier, grid, cv=2).fit(X, y)
        with parallel_backend(sys.argv[1], n_jobs=2):
            search = GridSearchCV(classifier, grid, cv=2, n_jobs=2).fit(X, y)
        scores = [s.cv_results_["mean_test_score"].tolist() for s in (alone, search)]
        print(scores[0] == scores[1])
"""


def run(tmp_path, argument):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    process = subprocess.run(
        [sys.executable, path, argument], capture_output=True, text=True, timeout=300, env=os.environ
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_both_sides_of_a_fork_fit(tmp_path):
    assert run(tmp_path, "fork") == "0 True"


@pytest.mark.parametrize("backend", ["multiprocessing", "loky", "threading"])
def test_grid_search_in_two_jobs(tmp_path, backend):
    assert run(tmp_path, backend) == "True"


@pytest.fixture
def table(rng):
    X = rng.standard_normal((2000, 600))
    return X, X[:, 3] - X[:, 20] + 0.1 * rng.standard_normal(2000) > 0


@pytest.fixture(autouse=True)
def same_threads_afterwards():
    before = get_num_threads()
    yield
    set_num_threads(before)


@pytest.mark.parametrize("response", ["linear", "piecewise"])
def test_one_two_and_three_threads_give_the_same_bits(table, response):
    results = []
    for n_threads in (1, 2, 3):
        set_num_threads(n_threads)
        classifier = FSAClassifier(k=2, loss="lorenz", n_iter=20, batch_size=None, response=response)
        results.append(classifier.fit(*table).decision_function(table[0]))
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])


def test_two_threads_of_python_fit_at_once(table):
    set_num_threads(2)
    make = lambda: FSAClassifier(k=2, loss="huber", n_iter=20, batch_size=None)  # noqa: E731
    expected = make().fit(*table).coef_
    found = [[], []]

    def fit(results):
        results += [make().fit(*table).coef_ for _ in range(5)]

    callers = [threading.Thread(target=fit, args=(results,)) for results in found]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(120)
    for results in found:
        assert len(results) == 5
        for coef in results:
            np.testing.assert_array_equal(coef, expected)
