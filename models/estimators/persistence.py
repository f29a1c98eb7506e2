"""Fitted estimators as model files."""

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...features.errors import DataError
from ..additive import LinearModel, PiecewiseModel
from ..annealing import AnnealingResult, Trace
from ..curves import CurveModel
from ..model_files import ModelFile, write_model_file
from ..model_kinds import Model, model_from_arrays
from .calibration import LOG_ODDS
from .classifier import FSAClassifier
from .ranker import FSARanker
from .regressor import FSARegressor

CLASSES = {cls.__name__: cls for cls in (FSAClassifier, FSARegressor, FSARanker)}
# Arguments that only steer training, and cannot be written as JSON.
NOT_KEPT = {
    "callback",
    "penalty",
    "random_state",
    "always_keep",
    "feature_groups",
    "class_weight",
    "memory_budget",
    "cv",
    "scoring",
    "losses",
    "ridges",
    "warm_start",
    "monotone",
    "categories",
}


def save(estimator, path: str | os.PathLike, metadata: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator to a model file.

    What predicts and what was selected is kept; the training trace and the arguments that only
    steer training are not.

    Parameters
    ----------
    estimator : FSAClassifier, FSARegressor or FSARanker
        Also their CV forms, which come back as the single form with the chosen k.
    path : path-like
    metadata : dict, optional
        JSON values to keep along: data, scores, seed.
    """
    check_is_fitted(estimator)
    name = next((name for name, cls in CLASSES.items() if isinstance(estimator, cls)), None)
    if name is None:
        raise DataError(f"cannot save a {type(estimator).__name__}; one of {sorted(CLASSES)} is needed")
    model = estimator.model_
    arrays = {"ranking": estimator.ranking_, **model.to_arrays()}
    if hasattr(estimator, "fill_values_"):
        arrays["fill_values"] = estimator.fill_values_
    if hasattr(estimator, "ramp_"):
        arrays["ramp"] = estimator.ramp_
    parameters = _parameters(estimator, model)
    document = {
        **(metadata or {}),
        "estimator": name,
        "parameters": parameters,
        "one_target": bool(getattr(estimator, "_one_target", True)),
        "feature_names": getattr(estimator, "feature_names_in_", np.array([])).tolist(),
        "classes": _listed_classes(estimator),
        "loss": getattr(estimator, "loss_", None),
        "categories": {str(j): labels for j, labels in getattr(estimator, "categories_", {}).items()},
    }
    write_model_file(path, "estimator", arrays, document)


def _parameters(estimator, model: Model) -> dict[str, Any]:
    """Return the arguments that JSON can hold: objects are left out, or become their short form."""
    parameters = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in estimator.get_params(deep=False).items()
        if name not in NOT_KEPT and not callable(value)
    }
    parameters |= {"k": len(model.features), "response": _short_form(model)}
    if isinstance(model, PiecewiseModel):
        parameters["n_bins"] = model.n_bins
    elif isinstance(model, CurveModel):
        parameters["n_bins"] = getattr(estimator.response, "n_bins", estimator.n_bins)
    return parameters


def _short_form(model: Model) -> str:
    return "linear" if isinstance(model, LinearModel) else "piecewise"


def _listed_classes(estimator) -> list | None:
    classes = getattr(estimator, "classes_", None)
    return None if classes is None else classes.tolist()


def load(file: ModelFile):
    """Make the estimator that `save` wrote."""
    name = file.metadata.get("estimator")
    cls = CLASSES.get(name) if isinstance(name, str) else None
    if cls is None:
        raise DataError(f"model file: unknown estimator {name!r}")
    ranking = file.array("ranking", dtype=np.int64, shape=(None,))
    model = model_from_arrays(file, n_features=len(ranking))
    try:
        estimator = cls(**file.metadata["parameters"])
    except (TypeError, KeyError) as error:
        raise DataError(f"model file: parameters of {cls.__name__} do not fit ({error})") from None
    response = _short_form(model)
    if estimator.response != response:
        raise DataError(f"model file: response is {estimator.response!r}, but its arrays are {response}")
    estimator.n_features_in_ = len(ranking)
    _restore_inputs(estimator, file)
    _restore_labels(estimator, file.metadata, n_outputs=len(model.intercept))
    nothing = np.empty((0, 0, 0))
    result = AnnealingResult(model, model.features, nothing, model.intercept, ranking, Trace())
    estimator._set_fitted(model, result)
    if isinstance(estimator, FSAClassifier):
        _restore_ramp(estimator, file)
    return estimator


def _restore_inputs(estimator, file: ModelFile) -> None:
    """Restore how tables become numbers."""
    if "fill_values" in file.arrays:
        shape = (estimator.n_features_in_,)
        estimator.fill_values_ = file.array("fill_values", dtype=np.float64, shape=shape)
    found = file.metadata.get("categories") or {}
    texts = [str(j) for j in range(estimator.n_features_in_)] if found else []
    labels = found.values() if isinstance(found, dict) else [None]
    kinds = str | int | float | bool
    if not all(isinstance(of_one, list) and all(isinstance(v, kinds) for v in of_one) for of_one in labels):
        raise DataError("model file: categories must be lists of texts or numbers")
    if not set(found) <= set(texts):
        raise DataError("model file: categories of columns that there are not")
    estimator.categories_ = {int(j): of_one for j, of_one in found.items()}


def _restore_labels(estimator, metadata: dict[str, Any], n_outputs: int) -> None:
    names = metadata.get("feature_names")
    if names:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise DataError("model file: feature names must be a list of texts")
        if len(names) != estimator.n_features_in_:
            raise DataError(f"model file: {len(names)} feature names for {estimator.n_features_in_} features")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if isinstance(estimator, FSAClassifier):
        estimator.classes_ = _read_classes(metadata.get("classes"), n_outputs)
        estimator.loss_ = metadata.get("loss")
        return
    one_target = bool(metadata.get("one_target", True))
    if one_target and n_outputs > 1:
        raise DataError(f"model file: {n_outputs} outputs for one target")
    if isinstance(estimator, FSARegressor):
        estimator._one_target = one_target


def _read_classes(classes, n_outputs: int) -> np.ndarray:
    expected = 2 if n_outputs == 1 else n_outputs
    alike = isinstance(classes, list) and any(
        all(isinstance(label, kind) for label in classes) for kind in (str, int | float)
    )
    if not alike or len(classes) != expected or len(set(classes)) != expected:
        raise DataError(
            f"model file: a classifier of {n_outputs} outputs needs {expected} classes, "
            "different texts or numbers"
        )
    return np.array(classes)


def _restore_ramp(estimator: FSAClassifier, file: ModelFile) -> None:
    """Files of version 0.1 have none: their models give probabilities only by the logistic loss."""
    if "ramp" in file.arrays:
        estimator.ramp_ = file.array("ramp", dtype=np.float64, shape=(3,))
        if not (estimator.ramp_[:2] > 0).all():
            raise DataError("model file: the slopes of the ramp must be above 0")
    elif estimator.loss_ == "logistic":
        estimator.ramp_ = LOG_ODDS
