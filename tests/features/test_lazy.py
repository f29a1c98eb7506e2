"""Packages load what is asked for: a detector needs no scikit-learn, the command line's help no kernels."""

import importlib
import json
import subprocess
import sys

import pytest

HEAVY = "numba", "sklearn", "scipy.stats", "cv2", "skimage", "matplotlib", "pandas"
PACKAGES = (
    "",
    ".models",
    ".models.estimators",
    ".models.boosting",
    ".models.keypoints",
    ".datasets",
    ".features",
)


def loaded_by(code):
    """Which of the heavy modules a program loads."""
    code += f"\nimport json, sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    command = [sys.executable, "-c", code]
    return set(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def test_packages_load_nothing_heavy_by_themselves():
    code = "import annealed, annealed.models, annealed.models.keypoints, annealed.datasets, annealed.features"
    assert loaded_by(code) == set()


def test_a_detector_needs_no_estimators():
    code = "import annealed, annealed.datasets.photos.images; annealed.load_model('face')"
    assert loaded_by(code) == {"numba", "cv2"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_can_be_had(package):
    module = importlib.import_module(f"annealed{package}")
    assert module.__all__ == dir(module)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # noqa: B018
