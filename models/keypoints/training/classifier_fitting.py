"""Fit the classifier of one keypoint on its examples: annealing, then the cascade."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ....features.errors import DataError, ParameterError
from ....features.pool import WindowPool
from ...annealing import Progress, Trace
from ...designs.windows import WindowsDesign
from ...knots import sum_responses
from ...losses import LABEL_LOSSES, find_loss
from ...schedules import InverseSchedule
from ..cascade import calibrate, cascade_order
from ..keypoint_classifier import KeypointClassifier
from .config_checks import at_least
from .mining import Examples
from .phases import Phases
from .window_fitting import fit_window_model


@dataclass(frozen=True)
class FitConfig:
    """How a classifier is fitted; the defaults are the paper's, section 3.3.

    Attributes
    ----------
    k : int
        Features selected.
    loss : {"lorenz", "logistic", "huber"}
    n_bins : int
        Bins of each response function.
    n_iter, mu : int, float
        Annealing schedule, equation (3).
    n_batches : int
        Mini-batches an iteration while features leave.
    batch_rows : int
        Most examples in one of them. If there are more, an iteration passes over some, and the next over
        others.
    tol : float
        Training of the k survivors ends once a step moves no coefficient by more than this part of the
        largest.
    shrinkage, smoothness : float
        Of the response functions, equation (13).
    cascade_loss : float
        Share of the positives above a floor that the cascade may lose.
    """

    k: int = 1500
    loss: str = "lorenz"
    n_bins: int = 10
    n_iter: int = 500
    mu: float = 300.0
    n_batches: int = 16
    batch_rows: int = 2048
    tol: float = 1e-4
    shrinkage: float = 1e-4
    smoothness: float = 1e-3
    cascade_loss: float = 0.01

    def __post_init__(self) -> None:
        if self.loss not in LABEL_LOSSES:
            raise ParameterError(f"loss must be one of {', '.join(LABEL_LOSSES)}, got {self.loss!r}")
        if not 1 <= self.n_bins <= 255:
            raise ParameterError(f"n_bins must be from 1 to 255, got {self.n_bins}")
        at_least("", self, n_batches=1, batch_rows=1)
        if not 0 <= self.cascade_loss < 1:
            raise ParameterError(f"cascade_loss must be at least 0 and below 1, got {self.cascade_loss}")
        InverseSchedule(self.k, self.n_iter, self.mu)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The examples of one keypoint.

    Attributes
    ----------
    positives : Examples
    negatives : Examples
        The random ones first, then the mined ones.
    n_random : int
        How many are random.
    held_out : Examples
        Positives of photos that are not trained on: with them the cascade is calibrated on windows
        that the features were not chosen for, too.
    """

    positives: Examples
    negatives: Examples
    n_random: int
    held_out: Examples


def fit_classifier(
    keypoint: str,
    pool: WindowPool,
    examples: TrainingSet,
    config: FitConfig,
    seed: int,
    lowest_floor: float,
    phases: Phases,
    callback: Callable[[Progress], None] | None = None,
) -> tuple[KeypointClassifier, Trace]:
    """Select k features of a pool and fit a piecewise linear response to each.

    Both classes have the same weight in total.

    Parameters
    ----------
    keypoint : str
    pool : WindowPool
        Features to choose from.
    examples : TrainingSet
    config : FitConfig
    seed : int
        Of the order of the examples, in which mini-batches are taken.
    lowest_floor : float
        Lowest score that a scan will ask for.
    phases : Phases
        Gets the time of "columns", "annealing" and "cascade".
    callback : callable, optional
        Called after each iteration of the annealing.

    Returns
    -------
    classifier : KeypointClassifier
        Its features in the order of the cascade, detection threshold 0.
    trace : Trace
    """
    positives, negatives = examples.positives, examples.negatives
    if config.k > len(pool):
        raise ParameterError(f"k is {config.k}, more than the {len(pool)} features of the pool")
    if not len(positives) or not len(negatives):
        raise DataError(
            f"{keypoint}: {len(positives)} positives and {len(negatives)} negatives; both are needed"
        )
    patches, labels = _shuffled(positives, negatives, seed)
    with phases.measure("columns"):
        design = WindowsDesign(pool, patches, config.n_bins)
    with phases.measure("annealing"):
        batch_rows = min(-(-len(labels) // config.n_batches), config.batch_rows)
        share = np.where(labels > 0, len(labels) / len(positives), len(labels) / len(negatives))
        model, result = fit_window_model(
            design,
            pool,
            (design.low, design.high),
            find_loss(config.loss)(labels, share),
            config,
            batch_size=batch_rows,
            batches_per_iteration=config.n_batches,
            tol=config.tol,
            callback=callback,
        )
        rows_a_pass = min(len(labels), batch_rows * config.n_batches)
        phases.work["annealing"] += _visits(result.trace, len(pool), config.k, rows_a_pass, len(labels))
    unordered = KeypointClassifier.without_cascade(keypoint, model)
    with phases.measure("cascade"):
        classifier = with_cascade(unordered, examples, lowest_floor, config.cascade_loss)
    return classifier, result.trace


def _visits(trace: Trace, n_features: int, k: int, rows_a_pass: int, n_rows: int) -> int:
    """How many (example, feature) pairs an annealing looked at, for the response and for the gradient."""
    kept = np.array([n_features, *trace.features_kept[:-1]])
    return int(2 * np.sum(kept * np.where(kept > k, rows_a_pass, n_rows)))


def with_cascade(
    classifier: KeypointClassifier, examples: TrainingSet, lowest_floor: float, loss: float
) -> KeypointClassifier:
    """Return the classifier with its features ordered and its rejection thresholds calibrated."""
    positives = np.concatenate(
        [classifier.codes(part.patches) for part in (examples.positives, examples.held_out)], axis=1
    )
    typical = classifier.codes(examples.negatives.patches[: examples.n_random])
    order = cascade_order(_responses(classifier.tables, positives), _responses(classifier.tables, typical))
    tables, positives = classifier.tables[order], positives[order]
    scores = sum_responses(tables, positives, classifier.intercept)
    floors, rejection = calibrate(tables, positives, scores, classifier.intercept, lowest_floor, loss)
    return replace(classifier, model=classifier.model[order], floors=floors, rejection=rejection)


def _responses(tables: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Response of every feature to every example, (k, n) float32."""
    return np.take_along_axis(tables, codes.astype(np.int64), axis=1)


def _shuffled(positives: Examples, negatives: Examples, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Patches of both classes in one random order, and their labels -1 and 1."""
    n_positives, n = len(positives), len(positives) + len(negatives)
    place = np.random.default_rng(seed).permutation(n)
    patches = np.empty((n, *positives.patches.shape[1:]), dtype=np.uint8)
    patches[place[:n_positives]] = positives.patches
    patches[place[n_positives:]] = negatives.patches
    labels = np.full(n, -1.0)
    labels[place[:n_positives]] = 1.0
    return patches, labels
