"""The import package's own names: `import annealed` is cheap, and its estimators work as they come."""

import subprocess
import sys

import numpy as np
import pytest

import annealed


def test_the_default_classifier_gives_probabilities(rng):
    X = rng.standard_normal((300, 30))
    y = np.where(X[:, 4] - X[:, 17] > 0, "yes", "no")
    probability = annealed.FSAClassifier(k=10).fit(X, y).predict_proba(X[:40])
    assert probability.shape == (40, 2)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert (probability.argmax(axis=1) == (y[:40] == "yes")).mean() > 0.9


def test_every_name_is_there_and_no_other():
    for name in annealed.__all__:
        assert getattr(annealed, name) is not None
    assert dir(annealed) == annealed.__all__
    with pytest.raises(AttributeError, match="module 'annealed' has no attribute 'FSA'"):
        _ = annealed.FSA


def test_importing_loads_nothing_large():
    code = "import annealed, sys; print(*({'numpy', 'numba', 'sklearn', 'cv2'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []
