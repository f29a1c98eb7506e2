"""The kinds of additive models, and reading whichever a file holds."""

from .additive import LinearModel, PiecewiseModel
from .curves import CurveModel
from .model_files import ModelFile

Model = LinearModel | PiecewiseModel | CurveModel


def model_from_arrays(file: ModelFile, prefix: str = "", *, n_features: int) -> Model:
    """Read the model of any kind that a file holds; see `PiecewiseModel.from_arrays`."""
    if prefix + "term_axes" in file.arrays:
        return CurveModel.from_arrays(file, prefix, n_features=n_features)
    kind = PiecewiseModel if prefix + "values" in file.arrays else LinearModel
    return kind.from_arrays(file, prefix, n_features=n_features)
