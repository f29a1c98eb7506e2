"""Files and results of version 0.1.0: old model files load, and the same models give the same results."""

from pathlib import Path

import numpy as np
import problems
import pytest
from llvmlite import binding

from annealed.models import load_model

FOLDER = Path(__file__).parent / "golden"
RESULTS = dict(np.load(FOLDER / "results.npz"))
PROCESSOR = str(RESULTS.pop("processor"))


def assert_golden(name, values):
    """The last bit agrees on the kind of processor of the results; others may round differently."""
    expected = RESULTS[name]
    if binding.get_host_cpu_name() == PROCESSOR or expected.dtype.kind not in "f":
        np.testing.assert_array_equal(values, expected, err_msg=name)
    else:
        np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("name", problems.ESTIMATORS)
def test_old_files_of_estimators_respond_as_they_did(name):
    estimator = load_model(FOLDER / f"{name}.safetensors")
    _, Z, _ = problems.table(name)
    assert_golden(f"{name}/support", np.flatnonzero(estimator.support_))
    np.testing.assert_allclose(problems.responses(estimator, Z), RESULTS[f"{name}/response"], atol=1e-12)


@pytest.mark.parametrize("name", problems.ESTIMATORS)
def test_estimators_select_and_respond_as_they_did(name):
    X, Z, arguments = problems.table(name)
    estimator = problems.ESTIMATORS[name][0]().fit(X, **arguments)
    assert_golden(f"{name}/support", np.flatnonzero(estimator.support_))
    assert_golden(f"{name}/refitted", problems.responses(estimator, Z))


def test_detections_are_the_same_to_the_last_bit():
    for name, detector, photo in problems.detections():
        for key, values in problems.columns(detector.detect(photo)).items():
            assert_golden(f"{name}/{key}", values)
        for key, values in problems.columns(detector.detect(photo, raw=True)).items():
            assert_golden(f"{name}/raw/{key}", values)


def test_rankings_are_the_same_to_the_last_bit():
    for name, ranking in problems.rankings():
        assert_golden(f"{name}/scores", ranking.scores)
        assert_golden(f"{name}/labels", np.stack([candidate.labels for candidate in ranking.candidates]))
