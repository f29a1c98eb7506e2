"""Models of tables by `annealed.runtime`, in a process where only NumPy and safetensors can be loaded."""

import subprocess
import sys

import numpy as np
import pytest
from table_models import CURVES, fitted_models

from annealed import runtime
from annealed.models import Piecewise
from annealed.models.curves import CurveModel
from annealed.models.model_files import read_model_file, write_model_file

BLOCKED = (
    "numba",
    "llvmlite",
    "scipy",
    "sklearn",
    "joblib",
    "pandas",
    "cv2",
    "dask",
    "matplotlib",
    "annealed.models",
)
CHILD = """
import sys
for name in {blocked}:
    sys.modules[name] = None
import numpy as np
from annealed import runtime
folder = sys.argv[1]
X = np.load(folder + "/X.npy")
for i in range(int(sys.argv[2])):
    model = runtime.load(f"{{folder}}/{{i}}.safetensors")
    out = {{"respond": model.respond(X), "predict": model.predict(X)}}
    if model.ramp is not None:
        out["predict_proba"] = model.predict_proba(X)
    np.savez(f"{{folder}}/{{i}}.npz", **out)
loaded = {{name.partition(".")[0] for name, module in sys.modules.items() if module is not None}}
assert not loaded & set({blocked}), loaded
"""


def test_the_same_numbers_where_nothing_else_is_installed(tmp_path, rng):
    X, spaced = rng.standard_normal((100, 8)), Piecewise(ranges="trimmed")
    models = [m for response in ("linear", "piecewise", spaced) for m in fitted_models(X, response).values()]
    np.save(tmp_path / "X.npy", X)
    for i, model in enumerate(models):
        model.save(tmp_path / f"{i}.safetensors")
    code = CHILD.format(blocked=BLOCKED)
    subprocess.run([sys.executable, "-c", code, tmp_path, str(len(models))], check=True, timeout=120)
    for i, model in enumerate(models):
        with np.load(tmp_path / f"{i}.npz") as found:
            np.testing.assert_array_equal(found["predict"], model.predict(X))
            np.testing.assert_allclose(found["respond"], model.model_.respond(X), rtol=1e-12)
            assert ("predict_proba" in found) == hasattr(model, "predict_proba")
            if "predict_proba" in found:
                np.testing.assert_allclose(found["predict_proba"], model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("curves", CURVES)
def test_curves_pairs_categories_and_missing_values(tmp_path, rng, curves):
    model = CurveModel(curves, np.array([0.5, -1.0]))
    document = {"estimator": "FSARegressor", "one_target": False}
    path = tmp_path / "model.safetensors"
    write_model_file(path, "estimator", {"ranking": np.ones(4, np.int64), **model.to_arrays()}, document)
    X = np.round(3 * rng.standard_normal((500, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    np.testing.assert_array_equal(runtime.load(path).predict(X), model.respond(X))


def test_what_is_no_model_of_a_table_is_one_clear_line(tmp_path, rng):
    path = tmp_path / "model.safetensors"
    with pytest.raises(ValueError, match="no such model file"):
        runtime.load(path)
    path.write_bytes(b"no file of tensors")
    with pytest.raises(ValueError, match="not a model of a table that can be read here"):
        runtime.load(path)
    write_model_file(path, "motion-ranker", {"a": np.ones(3)}, {})
    with pytest.raises(ValueError, match="holds a motion-ranker, not a model of a table"):
        runtime.load(path)
    X = rng.standard_normal((40, 8))
    fitted_models(X, "linear")["one target"].save(path)
    with pytest.raises(ValueError, match=r"accepted is \(n_samples, 8\)"):
        runtime.load(path).predict(X[:, :3])
    with pytest.raises(ValueError, match="gives no probabilities"):
        runtime.load(path).predict_proba(X)
    file = read_model_file(path)
    arrays = file.arrays | {"features": file.arrays["features"] + 7}
    write_model_file(path, "estimator", arrays, file.metadata)
    with pytest.raises(ValueError, match="features must be numbers from 0 to 7"):
        runtime.load(path)
