"""Fitted estimators as model files."""

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...features.errors import DataError
from ..annealing import Annealed, Trace
from ..responses import LinearModel, Model, PiecewiseModel
from ..store import ModelFile, write_model_file
from .classifier import FSAClassifier
from .ranker import FSARanker
from .regressor import FSARegressor

CLASSES = {cls.__name__: cls for cls in (FSAClassifier, FSARegressor, FSARanker)}
# Arguments that only steer training, and cannot be written as JSON.
NOT_KEPT = {"callback", "penalty", "random_state", "always_keep", "groups", "class_weight", "cv", "scoring"}


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
    arrays = {"ranking": estimator.ranking_, **_model_arrays(model)}
    parameters = {k: v for k, v in estimator.get_params(deep=False).items() if k not in NOT_KEPT}
    parameters["k"] = len(model.features)
    document = {
        **(metadata or {}),
        "estimator": name,
        "parameters": parameters,
        "one_target": bool(getattr(estimator, "_one_target", True)),
        "feature_names": getattr(estimator, "feature_names_in_", np.array([])).tolist(),
        "classes": _listed_classes(estimator),
    }
    write_model_file(path, "estimator", arrays, document)


def _model_arrays(model: Model) -> dict[str, np.ndarray]:
    names: tuple[str, ...] = ("features", "coef", "intercept")
    if isinstance(model, PiecewiseModel):
        names = ("features", "low", "high", "values", "intercept")
    return {name: getattr(model, name) for name in names}


def _listed_classes(estimator) -> list | None:
    classes = getattr(estimator, "classes_", None)
    return None if classes is None else classes.tolist()


def load(file: ModelFile):
    """Make the estimator that `save` wrote."""
    cls = CLASSES.get(file.metadata.get("estimator", ""))
    if cls is None:
        raise DataError(f"model file: unknown estimator {file.metadata.get('estimator')!r}")
    ranking = file.array("ranking", dtype=np.int64, shape=(None,))
    model = _read_model(file, n_features=len(ranking))
    try:
        estimator = cls(**file.metadata["parameters"])
    except (TypeError, KeyError) as error:
        raise DataError(f"model file: parameters of {cls.__name__} do not fit ({error})") from None
    estimator.n_features_in_ = len(ranking)
    _restore_labels(estimator, file.metadata, n_outputs=len(model.intercept))
    _restore_selection(estimator, model, ranking)
    return estimator


def _read_model(file: ModelFile, n_features: int) -> Model:
    features = file.array("features", dtype=np.int64, shape=(None,))
    ascending = bool(np.all(np.diff(features) > 0))
    if len(features) == 0 or features[0] < 0 or features[-1] >= n_features or not ascending:
        raise DataError(f"model file: features must be ascending numbers from 0 to {n_features - 1}")
    k = len(features)
    intercept = file.array("intercept", dtype=np.float64, shape=(None,))
    if "values" not in file.arrays:
        coef = file.array("coef", dtype=np.float64, shape=(len(intercept), k))
        return LinearModel(features, coef, intercept)
    values = file.array("values", dtype=np.float64, shape=(len(intercept), k, None))
    low = file.array("low", dtype=np.float64, shape=(k,))
    high = file.array("high", dtype=np.float64, shape=(k,))
    if values.shape[2] < 2 or (high < low).any():
        raise DataError("model file: a piecewise linear response needs two knots and low <= high")
    return PiecewiseModel(features, low, high, values, intercept)


def _restore_labels(estimator, metadata: dict[str, Any], n_outputs: int) -> None:
    names = metadata.get("feature_names")
    if names:
        if len(names) != estimator.n_features_in_:
            raise DataError(f"model file: {len(names)} feature names for {estimator.n_features_in_} features")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if isinstance(estimator, FSAClassifier):
        classes = metadata.get("classes")
        expected = 2 if n_outputs == 1 else n_outputs
        if not isinstance(classes, list) or len(classes) != expected:
            raise DataError(f"model file: a classifier of {n_outputs} outputs needs {expected} classes")
        estimator.classes_ = np.array(classes)
    if isinstance(estimator, FSARegressor):
        estimator._one_target = bool(metadata.get("one_target", True))


def _restore_selection(estimator, model: Model, ranking: np.ndarray) -> None:
    nothing = np.empty((0, 0, 0))
    estimator._set_fitted(model, Annealed(model.features, nothing, model.intercept, ranking, Trace()))
