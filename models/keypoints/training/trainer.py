"""Train a detector: positives and random negatives, then rounds of hard-negative mining (section 3.3).

Each round scans all photos with the classifiers of the round before, adds the highest scoring
negatives to those already there, and trains anew on all of them. The photos are read, and their
pyramids and maps built, once a round for all keypoints.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ....features.errors import DataError
from ....features.pool import WindowPool
from ....features.threads import one_blas_thread
from ...annealing import Progress, Trace
from ...cluster.context import one_fit_at_a_time
from ..detector import KeypointDetector
from ..evaluation import Criteria, Observed, PrecisionRecall, observed, precision_recall
from ..keypoint_classifier import KeypointClassifier
from ..regions import WHOLE
from .checkpoints import KINDS, Round, RunFolder
from .classifier_fitting import TrainingSet, fit_classifier
from .config import TrainingConfig, training_pool
from .finishing import fit_refiners, with_objects, with_parts
from .mining import (
    Examples,
    HardestNegatives,
    join_examples,
    no_examples,
)
from .passes import Detect, FirstExamples, Mine
from .phases import Phases
from .record import RoundRecord, SelectionScore
from .region_fitting import centred, region_finder, size_range
from .targets import AnnotatedPhoto
from .training_photos import Report, TrainingPhotos

REPORTED_NEGATIVES = 100

_NO_SCORES = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained detector and how it came about.

    Attributes
    ----------
    detector : KeypointDetector
    rounds : tuple of Round
        From the random negatives to the last mining.
    phases : Phases
        Time of this process; what a resumed run did before is not in it.
    problems : tuple of str
        Photos that could not be used.
    """

    detector: KeypointDetector
    rounds: tuple[Round, ...]
    phases: Phases
    problems: tuple[str, ...]


@one_blas_thread
def train_detector(
    photos: Sequence[AnnotatedPhoto],
    keypoints: dict[str, int],
    config: TrainingConfig,
    *,
    run: RunFolder | None = None,
    resume: bool = False,
    report: Report = lambda phase, done, total: None,
) -> TrainingResult:
    """Train a detector of one or more keypoints.

    Within `annealed.distributed(client)` photos are looked at, and keypoints fitted, by the workers of a
    cluster, to the same model.

    Parameters
    ----------
    photos : sequence of AnnotatedPhoto
        With the sizes of their objects set.
    keypoints : dict of str to int
        Column of each keypoint in the annotation.
    config : TrainingConfig
    run : RunFolder, optional
        Where checkpoints are kept; none are kept by default.
    resume : bool
        Continue the run in that folder.
    report : callable
        Told (phase, done, total).

    Raises
    ------
    DataError
        If a keypoint has no positive, or the folder does not fit.
    """
    with one_fit_at_a_time():
        trainer = _Trainer(photos, keypoints, config, report)
        rounds = [] if run is None else run.begin(trainer.configuration(), resume=resume)
        try:
            for number in range(len(rounds), config.rounds + 1):
                rounds.append(trainer.do_round(rounds))
                if run is not None:
                    run.write_round(number, rounds[-1])
            detector = trainer.finish(rounds)
        finally:
            if run is not None:
                run.release()
    return TrainingResult(detector, tuple(rounds), trainer.phases, tuple(trainer.photos.problems.values()))


class _Trainer:
    """What all rounds of a run share."""

    def __init__(
        self,
        photos: Sequence[AnnotatedPhoto],
        keypoints: dict[str, int],
        config: TrainingConfig,
        report: Report,
    ) -> None:
        self.photos = TrainingPhotos(photos, keypoints, config, report)
        self.keypoints = keypoints
        self.config = config
        self.report = report
        self.phases = Phases()
        self.pool = training_pool(config.n_haar, config.seed)

    def configuration(self) -> dict[str, Any]:
        """Whatever the result depends on, as JSON values."""
        return {
            "keypoints": list(self.keypoints),
            "data": self.photos.fingerprint(),
            **_flat(asdict(self.config)),
        }

    def do_round(self, rounds: Sequence[Round]) -> Round:
        """Gather the round's examples, train on all there are, and evaluate."""
        gathered, hardest = self._mine(rounds) if rounds else (self._first_examples(), [])
        so_far = [*rounds, gathered]
        fitted = self._fit_each(so_far)
        classifiers = tuple(classifier for classifier, _ in fitted)
        curves = self._evaluate(self._detector(classifiers))
        record = RoundRecord(
            seconds=dict(self.phases.seconds),
            work=dict(self.phases.work),
            hardest=hardest,
            loss=[trace.loss for _, trace in fitted],
            validation=[SelectionScore.of_curve(curve) for curve in curves],
        )
        return replace(gathered, classifiers=classifiers, record=record)

    def finish(self, rounds: Sequence[Round]) -> KeypointDetector:
        """Make the detector, of each keypoint's best round, with thresholds chosen on the held-out photos."""
        best = [_best_round(rounds, k) for k in range(len(self.keypoints))]
        detector = self._detector([rounds[number].classifiers[k] for k, number in enumerate(best)])
        validation = [rounds[number].record.validation[k] for k, number in enumerate(best)]
        if refiners := fit_refiners(self.photos, self.pool, self.phases):
            refined = replace(detector, refiners=refiners)
            scores = [SelectionScore.of_curve(curve) for curve in self._evaluate(refined)]
            if _mean_precision(scores) >= _mean_precision(validation):
                detector, validation = refined, scores
        metadata = {
            "configuration": self.configuration(),
            "photos": len(self.photos.sources),
            "rounds": best,
            "positives": [len(examples) for examples in rounds[0].positives],
            "negatives": [
                sum(len(r.negatives[k]) for r in rounds[: number + 1]) for k, number in enumerate(best)
            ],
            "validation": [asdict(score) for score in validation],
        }
        detector = detector.with_thresholds([score.threshold for score in validation])
        precision = [score.average_precision for score in validation]
        detector, choice = with_parts(detector, self.photos, self.phases)
        if choice is not None:
            metadata["shape"] = asdict(choice)
        if not detector.sees_scene:
            detector = with_objects(detector, self.photos, precision, self.phases)
            detector = with_regions(detector, self.photos, self.phases)
        return replace(detector, metadata=metadata)

    def _detector(self, classifiers: Sequence[KeypointClassifier]) -> KeypointDetector:
        low, high = self.config.targets.size_range_px
        octaves = float(np.log2(high / low))
        object_px = float(np.sqrt(low * high))
        return KeypointDetector(
            tuple(classifiers), object_px, octaves, self.config.pyramid, angles=self.photos.angles
        )

    def _first_examples(self) -> Round:
        """Positives and random negatives of all photos."""
        n = len(self.keypoints)
        found: dict[str, list[list[Examples]]] = {kind: [[] for _ in range(n)] for kind in KINDS}
        every = np.arange(len(self.photos.photos))
        n_random = -(-self.config.n_random // max(len(self.photos.training), 1))
        first = FirstExamples(self.config, n_random, frozenset(self.photos.held_out.tolist()))
        with self.phases.measure("positives"):
            for _, sets in self.photos.each(every, "positives", first):
                for kind, examples in sets.items():
                    for k, part in enumerate(examples):
                        found[kind][k].append(part)
        joined = {kind: [join_examples(parts) for parts in sets] for kind, sets in found.items()}
        for k, name in enumerate(self.keypoints):
            if not len(joined["positives"][k]):
                raise DataError(self._no_positives(k, name))
        negatives = tuple(self._drawn(examples, k) for k, examples in enumerate(joined["negatives"]))
        return Round(tuple(joined["positives"]), tuple(joined["held_out"]), negatives, (), RoundRecord())

    def _drawn(self, negatives: Examples, k: int) -> Examples:
        """At most `n_random` of the negatives, in their order."""
        order = np.random.default_rng([self.config.seed, 3, k]).permutation(len(negatives))
        return negatives[np.sort(order[: self.config.n_random])]

    def _no_positives(self, k: int, name: str) -> str:
        """Say why a keypoint has no positive, and what would change it."""
        low, high = self.config.targets.size_range_px
        targets = [self.photos.targets[i][k] for i in self.photos.training]
        n_visible = sum(int(t.visible.sum()) for t in targets)
        if n_visible == 0:
            return f"{name}: no visible annotation with a known object size among {len(targets)} photos"
        sizes = np.concatenate([t.sizes[t.visible] for t in targets])
        return (
            f"{name}: no positive; on the photos the objects are {sizes.min():.3g} to {sizes.max():.3g} px "
            f"large, windows are cut where a level shows them at {low:g} to {high:g} px: change the size "
            f"range, or the largest scale (now {self.config.pyramid.max_scale:g})"
        )

    def _mine(self, rounds: Sequence[Round]) -> tuple[Round, list[list[float]]]:
        """Scan the round's training photos with the last classifiers; new negatives and the best scores."""
        classifiers = rounds[-1].classifiers
        collectors = [
            HardestNegatives(
                self.config.n_hard,
                self.config.hard_floor,
                np.concatenate([r.negatives[k].keys for r in rounds]),
            )
            for k in range(len(self.keypoints))
        ]

        wanted = [collector.wanted for collector in collectors]
        mine = Mine(self.config.targets, classifiers, wanted, self.config.spacing_px)
        order = self._photos_to_scan(len(rounds))
        with self.phases.measure("scan"):
            for first, end in _growing_batches(len(order), self.config.photos_a_batch):
                floors = [float(collector.floor) for collector in collectors]
                batch = self.photos.each(order[first:end], "scan", mine, first, len(order), (floors,))
                mined = [found for _, found in batch]
                self.phases.work["scan"] += len(classifiers) * sum(n for n, _ in mined)
                for k, collector in enumerate(collectors):
                    parts = [found[k] for _, found in mined]
                    examples = join_examples([examples for examples, _ in parts])
                    collector.add(
                        examples, np.concatenate([_NO_SCORES, *(s for _, s in parts)]), end / len(order)
                    )
            found = [collector.result() for collector in collectors]
        nothing = tuple(no_examples() for _ in found)
        negatives = tuple(examples for examples, _ in found)
        hardest = [scores[:REPORTED_NEGATIVES].tolist() for _, scores in found]
        return Round(nothing, nothing, negatives, (), RoundRecord()), hardest

    def _photos_to_scan(self, number: int) -> np.ndarray:
        """The training photos of round 1, 2, ... in the order in which they are scanned."""
        order = np.random.default_rng([self.config.seed, 4]).permutation(self.photos.training)
        n = math.ceil(self.config.scanned * len(order))
        return np.roll(order, -(number - 1) * n)[:n]

    def _fit_each(self, rounds: Sequence[Round]) -> list[tuple[KeypointClassifier, Trace]]:
        """Train the classifier of each keypoint on the examples of all rounds, side by side on a cluster."""
        names = list(self.keypoints)
        fit = _Fit(self.pool, self.config)
        tasks = self.photos.tasks
        if tasks is None:
            return [
                fit.fit(
                    (name, _training_set(k, rounds)),
                    self.phases,
                    partial(self._tell, name),
                )
                for k, name in enumerate(names)
            ]
        fitted = []
        sets = [(name, _training_set(k, rounds)) for k, name in enumerate(names)]
        for name, (classifier, trace, phases) in zip(names, tasks.map(fit, sets, at_once=1), strict=True):
            fitted.append((classifier, trace))
            self.phases.add(phases)
            self.report(f"annealing {name}", 1, 1)
        return fitted

    def _tell(self, name: str, progress: Progress) -> None:
        self.report(f"annealing {name}", progress.iteration, progress.n_iter)

    def _evaluate(self, detector: KeypointDetector) -> list[PrecisionRecall]:
        """Precision and recall of each keypoint on the held-out photos."""
        judged: list[list[Observed]] = [[] for _ in self.keypoints]
        detect = Detect(detector)
        with self.phases.measure("validation"):
            for i, found in self.photos.each(self.photos.held_out, "validation", detect):
                for k, name in enumerate(self.keypoints):
                    judged[k].append(observed(found, name, self.photos.targets[i][k]))
        return [precision_recall(photos, Criteria()) for photos in judged]


@dataclass(frozen=True, eq=False)
class _Fit:
    """Fit the classifier of a keypoint on its examples."""

    pool: WindowPool
    config: TrainingConfig

    def __call__(self, given: tuple[str, TrainingSet]) -> tuple[KeypointClassifier, Trace, Phases]:
        phases = Phases()
        return *self.fit(given, phases, None), phases

    def fit(
        self,
        given: tuple[str, TrainingSet],
        phases: Phases,
        callback: Callable[[Progress], None] | None,
    ) -> tuple[KeypointClassifier, Trace]:
        name, examples = given
        return fit_classifier(
            name,
            self.pool,
            examples,
            self.config.fit,
            seed=self.config.seed,
            lowest_floor=self.config.hard_floor,
            phases=phases,
            callback=callback,
        )


def _training_set(k: int, rounds: Sequence[Round]) -> TrainingSet:
    """Join the examples of a keypoint of all rounds."""
    return TrainingSet(
        positives=join_examples([r.positives[k] for r in rounds]),
        negatives=join_examples([r.negatives[k] for r in rounds]),
        n_random=len(rounds[0].negatives[k]),
        held_out=join_examples([r.held_out[k] for r in rounds]),
    )


def with_regions(detector: KeypointDetector, photos: TrainingPhotos, phases: Phases) -> KeypointDetector:
    """Add the classifier of whole objects to a detector of objects; it is trained as those of keypoints are.

    Photos that are held out play no part.
    """
    config = photos.config
    if detector.object_model is None or config.regions.k == 0:
        return detector
    shape = detector.object_model.shape
    whole = [centred(photos.photos[i], photos.columns, shape) for i in photos.training.tolist()]
    middle = whole[0].points.shape[1] - 1
    trainer = _Trainer(whole, {WHOLE: middle}, config.of_regions(size_range(shape)), photos.report)
    rounds: list[Round] = []
    with phases.measure("regions"):
        while len(rounds) <= trainer.config.rounds:
            rounds.append(trainer.do_round(rounds))
    return replace(detector, regions=region_finder(rounds[-1].classifiers[0], shape, detector.object_px))


def _best_round(rounds: Sequence[Round], k: int) -> int:
    """The round after which keypoint k was detected best in the held-out photos; of equal ones the last."""
    precision = [gathered.record.validation[k].average_precision for gathered in rounds]
    return max(range(len(rounds)), key=lambda number: (precision[number], number))


def _mean_precision(validation: Sequence[SelectionScore]) -> float:
    """Average precision on the held-out photos, averaged over the keypoints."""
    return float(np.mean([score.average_precision for score in validation]))


def _growing_batches(n: int, largest: int) -> Iterator[tuple[int, int]]:
    """Ranges of photos that are mined with the same floors: few at first, when the floors are low."""
    first, size = 0, 1
    while first < n:
        yield first, min(first + size, n)
        first += size
        size = min(2 * size, largest)


def _flat(nested: dict[str, Any]) -> dict[str, Any]:
    """Nested dictionaries as one, with names like `fit.k`."""
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{inner}": v for inner, v in _flat(value).items()})
        else:
            flat[key] = value
    return flat
