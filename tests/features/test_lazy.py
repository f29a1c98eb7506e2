"""Packages load what is asked for: a detector needs no scikit-learn, the command line's help no kernels."""

import importlib
import subprocess
import sys

import pytest

HEAVY = "numba", "sklearn", "scipy.stats", "cv2", "skimage", "matplotlib", "pandas", "importlib.metadata"


def loaded_by(code):
    """Which of the heavy modules a program loads."""
    code += f"\nimport sys; print([name for name in {HEAVY} if name in sys.modules])"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_packages_load_nothing_heavy_by_themselves():
    code = "import annealed, annealed.models, annealed.models.keypoints, annealed.datasets, annealed.features"
    assert set(eval(loaded_by(code))) <= {"importlib.metadata"}  # an editable installation loads that one


def test_a_detector_needs_no_estimators():
    code = (
        "from annealed.models import load_model\nload_model('face')\nimport annealed.datasets.photos.images"
    )
    assert not set(eval(loaded_by(code))) & {"sklearn", "scipy.stats", "skimage", "matplotlib", "pandas"}


@pytest.mark.parametrize(
    "package",
    ["", ".models", ".models.estimators", ".models.boosting", ".models.keypoints", ".datasets", ".features"],
)
def test_every_name_can_be_had(package):
    module = importlib.import_module(f"annealed{package}")
    assert module.__all__ == dir(module)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # noqa: B018
