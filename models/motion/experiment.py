"""The experiment of section 3.4: cross-validation over videos, and what to compare a ranker with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...features.errors import ParameterError
from ...features.threads import one_blas_thread
from ..boosting import RankBoost
from .candidates import Candidate
from .cues import MotionCues
from .description import in_form
from .disagreement import disagreement
from .disturbances import LabelledTracks
from .pools import DescribedCandidates, described_by_cues, described_candidates, names_of
from .segment import UNLABELLED, completed

N_FOLDS = 10
ARGMIN_FEATURES = ("positions plain: average square", "subspace residual: root mean square")
MIN_VISIBLE = 3


@dataclass(frozen=True, eq=False)
class RankingProblem:
    """A sequence whose candidates are generated, described and compared with the truth.

    Attributes
    ----------
    name, video, category : str
        Sequences of one video stay in the same fold.
    n_motions : int
    candidates : list of Candidate
    table : ndarray of shape (n_candidates, n_features), float64
        Raw features.
    errors : ndarray of shape (n_candidates,), float64 in [0, 1]
    over_numbers : DescribedCandidates or None
        Candidates of several numbers of motions, where wanted.
    """

    name: str
    video: str
    category: str
    n_motions: int
    candidates: list[Candidate]
    table: np.ndarray
    errors: np.ndarray
    over_numbers: DescribedCandidates | None = None


@one_blas_thread
def describe(
    positions: np.ndarray,
    labels: np.ndarray,
    *,
    name: str,
    video: str,
    category: str = "",
    pool: str = "paper",
    least_share: float | None = None,
) -> RankingProblem:
    """Generate and describe the candidates of one sequence of complete tracks whose motions are known.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
    labels : ndarray of shape (P,), int, from 0
    name, video, category : str
    pool, least_share
        Of `candidates`.
    """
    n_motions = len(np.unique(labels))
    found = described_candidates(positions, n_motions, pool, least_share)
    errors = np.array([disagreement(candidate.labels, labels) for candidate in found.candidates])
    return RankingProblem(name, video, category, n_motions, found.candidates, found.table, errors)


@one_blas_thread
def describe_tracks(
    tracks: LabelledTracks,
    numbers: Sequence[int] | None = None,
    *,
    name: str,
    video: str,
    category: str = "",
) -> RankingProblem:
    """Describe the candidates of the pool "pairs" for tracks that may have gaps and outliers.

    Parameters
    ----------
    tracks : LabelledTracks
        Tracks visible in fewer than three frames are left out; outliers do not count in the errors. Tracks
        that agree with hardly any other are no part of the candidates, and join their nearest motion.
    numbers : sequence of int, optional
        Of motions; beside the right one, which are then described together.
    name, video, category : str
    """
    tracks = tracks[tracks.visible.sum(axis=1) >= MIN_VISIBLE]
    known = tracks.labels >= 0
    n_motions = len(np.unique(tracks.labels[known]))
    cues, kept = MotionCues(tracks.positions, tracks.visible).without_strays()
    every = described_by_cues(cues, sorted({n_motions, *(numbers or [])}))
    own = every.of_number(n_motions)
    errors = np.array([_error(tracks, kept, candidate.labels) for candidate in own.candidates])
    return RankingProblem(
        name, video, category, n_motions, own.candidates, own.table, errors, every if numbers else None
    )


def _error(tracks: LabelledTracks, kept: np.ndarray, labels: np.ndarray) -> float:
    """Misclassification of the tracks of known motions by a segmentation of those that are kept."""
    whole = np.full(len(kept), UNLABELLED)
    whole[kept] = labels
    known = tracks.labels >= 0
    if not kept[known].all():
        whole, _ = completed(tracks.positions, tracks.visible, whole)
    return disagreement(whole[known], tracks.labels[known])


class CandidateRanker(Protocol):
    """What cross-validation asks of a ranker."""

    def fit_candidates(self, tables: Sequence[np.ndarray], errors: Sequence[np.ndarray]): ...

    def score(self, table: np.ndarray) -> np.ndarray: ...


class BoostedRanker:
    """RankBoost with the face of a `MotionRanker`; 100 stumps of 64 thresholds, as in the paper."""

    def __init__(self, *, form: str = "relative", n_rounds: int = 100, n_thresholds: int = 64) -> None:
        self.form = form
        self.n_rounds = n_rounds
        self.n_thresholds = n_thresholds

    def fit_candidates(self, tables: Sequence[np.ndarray], errors: Sequence[np.ndarray]) -> "BoostedRanker":
        """Learn from candidates that are described; see `MotionRanker.fit_candidates`."""
        sequence = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        table = np.concatenate([in_form(table, self.form) for table in tables])
        self.model_ = RankBoost(self.n_rounds, n_thresholds=self.n_thresholds)
        self.model_.fit(table, -np.concatenate(errors), qid=sequence)
        return self

    def score(self, table: np.ndarray) -> np.ndarray:
        """Return the score of each candidate of a sequence."""
        return self.model_.predict(in_form(table, self.form))


def assign_folds(videos: Sequence[str], seed: int, n_folds: int = N_FOLDS) -> np.ndarray:
    """Put each video at random into one of `n_folds` folds of nearly equal numbers of videos.

    Returns
    -------
    ndarray of shape (n_sequences,), int64
        The fold of each sequence, that of its video.
    """
    distinct, number = np.unique(np.asarray(videos), return_inverse=True)
    if not 2 <= n_folds <= len(distinct):
        raise ParameterError(f"the folds must number from 2 to {len(distinct)} (the videos), got {n_folds}")
    fold = np.empty(len(distinct), dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(len(distinct))] = np.arange(len(distinct)) % n_folds
    return fold[number]


@dataclass(frozen=True)
class CrossValidated:
    """Errors of the segmentations that ranked first.

    Attributes
    ----------
    test : ndarray of shape (n_sequences,), float64
        When the sequence was in the test set.
    train : ndarray of shape (n_sequences,), float64
        Mean over the folds in which it was in the training set.
    """

    test: np.ndarray
    train: np.ndarray


def cross_validate(
    described: Sequence[RankingProblem],
    make_ranker: Callable[[], CandidateRanker],
    seed: int,
    n_folds: int = N_FOLDS,
    report: Callable[[int, int], None] | None = None,
) -> CrossValidated:
    """Train on all folds but one and choose a candidate for every sequence, fold by fold.

    Parameters
    ----------
    described : sequence of RankingProblem
    make_ranker : callable
        Returns a new ranker.
    seed : int
        Of the assignment of videos to folds.
    n_folds : int
    report : callable, optional
        Called with the folds done and their number.
    """
    folds = assign_folds([sequence.video for sequence in described], seed, n_folds)
    chosen = np.empty((n_folds, len(described)))
    for fold in range(n_folds):
        training = [sequence for sequence, at in zip(described, folds, strict=True) if at != fold]
        ranker = make_ranker().fit_candidates([s.table for s in training], [s.errors for s in training])
        chosen[fold] = [s.errors[int(np.argmax(ranker.score(s.table)))] for s in described]
        if report is not None:
            report(fold + 1, n_folds)
    tested = folds == np.arange(n_folds)[:, None]
    train = np.where(tested, 0, chosen).sum(axis=0) / (n_folds - 1)
    return CrossValidated(chosen[folds, np.arange(len(described))], train)


def baselines(described: Sequence[RankingProblem]) -> dict[str, np.ndarray]:
    """Return the errors of choices that nothing was learned for, each of shape (n_sequences,).

    "oracle" takes the best candidate, "random candidate" the mean of all, "best fixed d" the velocity
    clustering in 2K + j dimensions with the j that is best on all of these sequences (chosen with the
    answers known), "least squared distance" the candidate with the least average squared distance to its
    subspaces, "consensus" the one that disagrees least with the others on average, "best fixed candidate" the
    one run (generator and parameters) that is best on all of these sequences (again with the answers known;
    the mean of a sequence's candidates where it lacks the run), and "SSC alone" the sparse subspace
    clustering, where the pool has it.
    """
    names = names_of("pairs" if described[0].table.shape[1] == len(names_of("pairs")) else "paper")
    column = next(names.index(name) for name in ARGMIN_FEATURES if name in names)
    consensus = names.index("mean disagreement")
    choices = {
        "oracle": np.array([s.errors.min() for s in described]),
        "random candidate": np.array([s.errors.mean() for s in described]),
        "best fixed d": _best_fixed_dimension(described),
        "least squared distance": np.array([s.errors[np.argmin(s.table[:, column])] for s in described]),
        "consensus": np.array([s.errors[np.argmin(s.table[:, consensus])] for s in described]),
        "best fixed candidate": _best_fixed_candidate(described),
    }
    alone = [_runs(s, "ssc") for s in described]
    if all(alone):
        choices["SSC alone"] = np.array([runs[0][1] for runs in alone])
    return choices


def _runs(sequence: RankingProblem, generator: str) -> list[tuple[float, float]]:
    """Dimension (0 without one) and error of all runs of a generator, repetitions included."""
    runs = []
    for candidate, error in zip(sequence.candidates, sequence.errors, strict=True):
        for run in (candidate, *candidate.repetitions):
            if run.generator == generator:
                runs.append((run.parameters.get("d", 0), float(error)))
    return sorted(runs)


def _best_fixed_dimension(described: Sequence[RankingProblem]) -> np.ndarray:
    """Errors in 2K + j dimensions for the j that is best over all sequences."""
    tables = [
        [_error_in_dimension(s, 2 * s.n_motions + min(j, 2 * s.n_motions)) for s in described]
        for j in range(2 * max(s.n_motions for s in described) + 1)
    ]
    return np.array(min(tables, key=lambda errors: float(np.mean(errors))))


def _best_fixed_candidate(described: Sequence[RankingProblem]) -> np.ndarray:
    """Errors of the generator with those parameters that is best over all sequences."""
    runs: dict[tuple, np.ndarray] = {}
    mean = np.array([s.errors.mean() for s in described])
    for i, s in enumerate(described):
        for candidate, error in zip(s.candidates, s.errors, strict=True):
            for run in (candidate, *candidate.repetitions):
                # dimensions are multiples of K
                settings = {k: v / s.n_motions if k == "d" else v for k, v in run.parameters.items()}
                key = (run.generator, *sorted(settings.items()))
                runs.setdefault(key, mean.copy())[i] = error
    return min(runs.values(), key=lambda errors: float(np.mean(errors)))


def _error_in_dimension(sequence: RankingProblem, wanted: int) -> float:
    """Error of velocity clustering in the nearest dimension that the pool has; of any candidate without."""
    runs = _runs(sequence, "velocity")
    if not runs:
        return float(sequence.errors.mean())
    return min(runs, key=lambda run: abs(run[0] - wanted))[1]


@dataclass(frozen=True)
class Row:
    """Average and median error of a group of sequences, as shares."""

    n_motions: int | None
    category: str | None
    n_sequences: int
    average: float
    median: float


def by_group(described: Sequence[RankingProblem], errors: np.ndarray) -> list[Row]:
    """Summarise errors as Table 7 does: by number of motions and category, then all together.

    Parameters
    ----------
    described : sequence of RankingProblem
    errors : ndarray of shape (n_sequences,), or (n_repetitions, n_sequences)
        Average and median are those of each repetition, averaged over them.

    Returns
    -------
    list of Row
        For each number of motions, its categories in order of appearance and all (category None); at the
        end all sequences (n_motions None).
    """
    errors = np.atleast_2d(errors)
    motions = np.array([s.n_motions for s in described])
    categories = np.array([s.category for s in described])
    groups: list[tuple[int | None, str | None]] = []
    for n_motions in sorted(set(motions.tolist())):
        groups += [(n_motions, c) for c in dict.fromkeys(categories[motions == n_motions].tolist())]
        groups.append((n_motions, None))
    groups.append((None, None))
    rows = []
    for n_motions, category in groups:
        inside = np.ones(len(described), dtype=bool) if n_motions is None else motions == n_motions
        inside &= True if category is None else categories == category
        part = errors[:, inside]
        average, median = part.mean(axis=1).mean(), np.median(part, axis=1).mean()
        rows.append(Row(n_motions, category, int(inside.sum()), float(average), float(median)))
    return rows
