"""Sample weights of the selectors with an order: an integer is that many repetitions."""

import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.selection.ranked import RankedSelector
from annealed.models.selection.registry import METHODS, make_selector

RANKED = [
    (name, task)
    for name, method in METHODS.items()
    for task in method.tasks
    if method.installed and isinstance(make_selector(name, 2, task=task), RankedSelector)
]
WEIGHTED = [(name, task) for name, task in RANKED if make_selector(name, 2, task=task)._takes_weights()]
WITHOUT = {name for name, _ in RANKED} - {name for name, _ in WEIGHTED}


def table(rng, task):
    X = rng.random((80, 10)) + 0.5
    f = 3 * X[:, 2] - 3 * X[:, 7] + rng.standard_normal(80)
    return X, np.digitize(f, [-1, 1]) if task == "classification" else f


@pytest.mark.parametrize(("name", "task"), WEIGHTED)
def test_an_integer_weight_is_that_many_repetitions(rng, name, task):
    X, y = table(rng, task)
    weight = rng.integers(0, 4, 80)
    weighted = make_selector(name, 4, task=task).fit(X, y, sample_weight=weight)
    repeated = make_selector(name, 4, task=task).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.order_[:4], repeated.order_[:4])
    if hasattr(weighted, "scores_"):
        np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-9)


def test_methods_without_weights_say_so(rng):
    assert {"mutual-information", "relieff", "tisp", "forward"} <= WITHOUT
    X, y = table(rng, "regression")
    for name in WITHOUT:
        selector = make_selector(name, 2, task="regression")
        with pytest.raises(ParameterError, match="takes no sample_weight: its method knows none"):
            selector.fit(X, y, sample_weight=np.arange(80))
    with pytest.raises(ValueError, match="zero"):
        make_selector("f", 2, task="regression").fit(X, y, sample_weight=np.zeros(80))


def test_equal_weights_are_none(rng):
    X, y = table(rng, "regression")
    for name in ("f", "relieff"):
        plain = make_selector(name, 2, task="regression").fit(X, y)
        equal = make_selector(name, 2, task="regression").fit(X, y, sample_weight=np.full(80, 3.0))
        np.testing.assert_array_equal(plain.scores_, equal.scores_)
