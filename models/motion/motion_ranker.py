"""Ranking candidate segmentations by annealed feature selection (section 3.4, Algorithm 2)."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...features.errors import DataError, ParameterError
from ...features.threads import one_blas_thread
from ..additive import PiecewiseModel
from ..comparable_pairs import comparable_pairs
from ..estimators import FSARanker
from ..model_files import ModelFile, write_model_file
from ..penalties import Ridge
from ..responses import Piecewise
from .candidates import POOLS, Candidate, check_problem
from .cues import MotionCues
from .description import FORMS, in_form
from .disagreement import disagreement
from .pools import DescribedCandidates, described_by_cues, described_candidates, kinds_of, names_of

KIND = "motion-ranker"
FEATURES = ("all", "likelihood", "prior")
NUMBER_PREFIX = "number_"
MOST_MOTIONS = 5
LEAST_TRACKS_A_MOTION = 6
APART = 0.02  # share of the tracks; candidates nearer than this to the best say the same


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidate segmentations, best first.

    Attributes
    ----------
    candidates : list of Candidate
    scores : ndarray of shape (n_candidates,), float64
        Of the ranking function, descending; comparable within one set of tracks only.
    number_scores : dict of int to float
        Where the number of motions was to be found: the score of each.
    """

    candidates: list[Candidate]
    scores: np.ndarray
    number_scores: dict[int, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def best(self) -> Candidate:
        """The candidate that ranks first."""
        return self.candidates[0]

    @property
    def margin(self) -> float:
        """How far the best candidate's score exceeds that of the next one that differs; infinite alone."""
        far = [disagreement(candidate.labels, self.best.labels) > APART for candidate in self.candidates]
        return float(self.scores[0] - self.scores[far].max()) if any(far) else float("inf")

    def support(self) -> np.ndarray:
        """Return how much of the candidates' weight, exp(score), gives each track the best's label, (P,)."""
        weights = np.exp(self.scores - self.scores[0])
        votes = np.zeros(len(self.best.labels))
        for candidate, weight in zip(self.candidates, weights, strict=True):
            votes += weight * _same_label(candidate.labels, self.best.labels)
        return votes / weights.sum()


class MotionRanker:
    """Choose among candidate segmentations of tracks, learned from tracks with labels.

    Parameters
    ----------
    pool : {"paper", "large", "widest", "pairs"}
        Candidates to choose among, and with "pairs" other features; see `candidates` and
        `segmentation_measures`.
    features : {"all", "likelihood", "prior"}
        Kinds of features to choose from.
    form : {"relative", "raw"}
        See `segmentation_features`.
    k, n_bins, n_iter : int
        Of `FSARanker`; the defaults are the paper's.
    mu : float
        Of `FSARanker`, by default 30. The paper's 300 drops half of the features after the first step and
        nine tenths in ten: too soon, with the paper's step, to know which ones complete each other.
    learning_rate : float or "auto"
        eta, by default the paper's 0.5, with steps as printed: without momentum. Longer steps fit the few
        informative pairs of a small training set too well.
    shrinkage : float
        lambda of equation (16).

    Attributes
    ----------
    model_ : PiecewiseModel
        The ranking function, over the features that `names_of` the pool lists.
    number_model_ : PiecewiseModel or None
        Ranks the best candidates of different numbers of motions, over the same features twice: as they are,
        and in the form "range" among these candidates. None if it was not fitted.
    metadata_ : dict
        What the model file recorded of its training.

    Examples
    --------
    >>> from annealed.models.motion import MotionRanker
    >>> ranker = MotionRanker().fit(positions, labels)  # doctest: +SKIP
    >>> ranker.rank(new_positions, n_motions=2).best.labels  # doctest: +SKIP
    """

    model_: PiecewiseModel
    number_model_: PiecewiseModel | None = None
    metadata_: dict[str, Any]

    def __init__(
        self,
        *,
        pool: str = "paper",
        features: str = "all",
        form: str = "relative",
        k: int = 40,
        n_bins: int = 4,
        n_iter: int = 300,
        mu: float = 30,
        learning_rate: float | str = 0.5,
        shrinkage: float = 0.01,
    ) -> None:
        for name, value, accepted in (
            ("pool", pool, POOLS),
            ("features", features, FEATURES),
            ("form", form, FORMS),
        ):
            if value not in accepted:
                raise ParameterError(f"{name} must be one of {accepted}, got {value!r}")
        self.pool = pool
        self.features = features
        self.form = form
        self.k = k
        self.n_bins = n_bins
        self.n_iter = n_iter
        self.mu = mu
        self.learning_rate = learning_rate
        self.shrinkage = shrinkage

    @one_blas_thread
    def fit(self, sequences_positions: Sequence[np.ndarray], labels: Sequence[np.ndarray]) -> "MotionRanker":
        """Learn from sequences whose motions are known.

        Parameters
        ----------
        sequences_positions : sequence of ndarray of shape (P, F, 2)
            Complete tracks of each sequence, in pixels.
        labels : sequence of ndarray of shape (P,), int, from 0
            The motion of each track.

        Returns
        -------
        self
        """
        if len(sequences_positions) != len(labels):
            raise DataError(f"{len(labels)} arrays of labels for {len(sequences_positions)} sequences")
        tables, errors = [], []
        for positions, truth in zip(sequences_positions, labels, strict=True):
            truth = np.asarray(truth)
            found = described_candidates(positions, len(np.unique(truth)), self.pool)
            tables.append(found.table)
            errors.append(np.array([disagreement(c.labels, truth) for c in found.candidates]))
        return self.fit_candidates(tables, errors)

    @one_blas_thread
    def fit_candidates(self, tables: Sequence[np.ndarray], errors: Sequence[np.ndarray]) -> "MotionRanker":
        """Learn from candidates that are described already.

        Parameters
        ----------
        tables : sequence of ndarray of shape (n_candidates, n_features)
            Of each sequence, raw features as `segmentation_features` gives them.
        errors : sequence of ndarray of shape (n_candidates,), float in [0, 1]
            Misclassification error of each candidate; the lower of a sequence's is to rank higher.

        Returns
        -------
        self

        Notes
        -----
        The loss is a mean over sequences of the mean over a sequence's pairs, not over all pairs: a departure
        from the paper, without which a sixth of the sequences, those with most candidates, are half of it.
        """
        if len(tables) == 0:
            raise DataError("no sequences to learn from")
        columns = np.arange(len(kinds_of(self.pool)))
        if self.features != "all":
            columns = np.flatnonzero(kinds_of(self.pool) == self.features)
        model = self._ranked([in_form(table, self.form)[:, columns] for table in tables], errors)
        self.model_ = model.with_features(columns[model.features])
        self.number_model_ = None
        self.metadata_ = {}
        return self

    def fit_numbers(
        self, sequences: Sequence[DescribedCandidates], n_motions: Sequence[int]
    ) -> "MotionRanker":
        """Learn to tell the number of motions; `fit_candidates` comes first.

        Parameters
        ----------
        sequences : sequence of DescribedCandidates
            Of each sequence, of several numbers of motions.
        n_motions : sequence of int
            The right number of each.

        Returns
        -------
        self
        """
        tables, errors = [], []
        for described, right in zip(sequences, n_motions, strict=True):
            rows = self._best_of_numbers(described)
            tables.append(_over_numbers(described.table[rows]))
            far = np.abs(described.n_motions[rows] - right)
            errors.append(far / (1.0 + far))
        self.number_model_ = self._ranked(tables, errors)
        return self

    def _ranked(self, tables: Sequence[np.ndarray], errors: Sequence[np.ndarray]) -> PiecewiseModel:
        """Learn one ranking function over the columns of the tables."""
        sequence = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        table = np.concatenate(tables)
        ranker = FSARanker(
            k=min(self.k, table.shape[1]),
            response=Piecewise(n_bins=self.n_bins, ranges="full"),
            n_iter=self.n_iter,
            mu=self.mu,
            momentum=0,
            learning_rate=self.learning_rate,
            penalty=Ridge(self.shrinkage),
        )
        pairs, r = comparable_pairs(-np.concatenate(errors), sequence)
        ranker.fit(table, pairs=pairs, r=r, pair_weight=_per_sequence(sequence[pairs[:, 0]]))
        model = ranker.model_
        assert isinstance(model, PiecewiseModel)
        return model

    def score(self, table: np.ndarray) -> np.ndarray:
        """Return the ranking function of one sequence's candidates.

        Parameters
        ----------
        table : ndarray of shape (n_candidates, n_features)
            Raw features of all candidates of a sequence.

        Returns
        -------
        ndarray of shape (n_candidates,), float64
        """
        if not hasattr(self, "model_"):
            raise ParameterError("the ranker is not fitted: call fit, or load one")
        return self.model_.respond(in_form(table, self.form))[:, 0]

    @one_blas_thread
    def rank(self, positions: np.ndarray, n_motions: int) -> Ranking:
        """Generate the candidate segmentations of some tracks and rank them.

        Parameters
        ----------
        positions : ndarray of shape (P, F, 2)
            Complete tracks in pixels.
        n_motions : int

        Returns
        -------
        Ranking
        """
        check_problem(positions, n_motions)
        return self.rank_described(described_candidates(positions, n_motions, self.pool))

    @one_blas_thread
    def rank_cues(self, cues: MotionCues, n_motions: int | None = None) -> Ranking:
        """Rank candidates for tracks that may have gaps; the pool must be "pairs".

        Parameters
        ----------
        cues : MotionCues
        n_motions : int, optional
            By default it is found, from 1 to `MOST_MOTIONS`.

        Returns
        -------
        Ranking
            Of the candidates of one number of motions.
        """
        if n_motions is not None:
            return self.rank_described(described_by_cues(cues, [n_motions]))
        if self.number_model_ is None:
            raise ParameterError("this ranker was not trained to find the number of motions: give it")
        most = min(MOST_MOTIONS, len(cues.positions) // LEAST_TRACKS_A_MOTION)
        found = described_by_cues(cues, list(range(1, max(1, most) + 1)))
        scores = self.number_scores(found)
        ranking = self.rank_described(found.of_number(max(scores, key=lambda number: scores[number])))
        return Ranking(ranking.candidates, ranking.scores, scores)

    def number_scores(self, found: DescribedCandidates) -> dict[int, float]:
        """Score each number of motions by the candidate that ranks first of it; `fit_numbers` comes first."""
        assert self.number_model_ is not None
        rows = self._best_of_numbers(found)
        scores = self.number_model_.respond(_over_numbers(found.table[rows]))[:, 0]
        return dict(zip(found.n_motions[rows].tolist(), scores.tolist(), strict=True))

    def rank_described(self, found: DescribedCandidates) -> Ranking:
        """Put described candidates of one number of motions in order."""
        scores = self.score(found.table)
        order = np.argsort(-scores, kind="stable")
        return Ranking([found.candidates[i] for i in order], scores[order])

    def _best_of_numbers(self, described: DescribedCandidates) -> np.ndarray:
        """Row of the candidate that ranks first of each number of motions."""
        numbers = described.n_motions
        rows = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
        return np.array([own[np.argmax(self.score(described.table[own]))] for own in rows])

    @property
    def selected_names(self) -> list[str]:
        """Names of the selected features, strongest first."""
        names = names_of(self.pool)
        order = np.argsort(-self.model_.importance(), kind="stable")
        return [names[j] for j in self.model_.features[order]]

    def save(self, path: str | os.PathLike, metadata: dict[str, Any] | None = None) -> None:
        """Write the ranker to one file: knots, weights and feature names, no training data.

        Parameters
        ----------
        path : path-like
        metadata : dict, optional
            JSON values to keep along: data, scores.
        """
        names = names_of(self.pool)
        arrays = self.model_.to_arrays()
        del arrays["features"]  # columns; names are kept, which other versions number otherwise
        document = {
            "features": [names[j] for j in self.model_.features],
            "parameters": self._parameters(),
            "training": metadata or {},
        }
        if self.number_model_ is not None:
            arrays |= self.number_model_.to_arrays(NUMBER_PREFIX)
            del arrays[f"{NUMBER_PREFIX}features"]
            twice = _names_over_numbers(names)
            document["number_features"] = [twice[j] for j in self.number_model_.features]
        write_model_file(path, KIND, arrays, document)

    def _parameters(self) -> dict[str, Any]:
        names = ("pool", "features", "form", "k", "n_bins", "n_iter", "mu", "learning_rate", "shrinkage")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_model_file(cls, file: ModelFile) -> "MotionRanker":
        """Build the ranker that a model file holds, after checking everything in it."""
        try:
            ranker = cls(**file.metadata["parameters"])
        except (KeyError, TypeError) as error:
            raise DataError(f"model file: the ranker's parameters do not fit ({error})") from None
        except ParameterError as error:
            raise DataError(f"model file: {error}") from None
        names = names_of(ranker.pool)
        columns = _columns_named(file.metadata.get("features"), names)
        ranker.model_ = PiecewiseModel.from_arrays(file, features=columns, n_outputs=1)
        if "number_features" in file.metadata:
            columns = _columns_named(file.metadata["number_features"], _names_over_numbers(names))
            ranker.number_model_ = PiecewiseModel.from_arrays(
                file, NUMBER_PREFIX, features=columns, n_outputs=1
            )
        training = file.metadata.get("training")
        ranker.metadata_ = training if isinstance(training, dict) else {}
        return ranker


def _per_sequence(sequence: np.ndarray) -> np.ndarray:
    """Weigh pairs, whose sequences are given, so that every sequence with a pair counts the same."""
    return 1 / np.bincount(sequence)[sequence]


def _columns_named(names: Any, known: list[str]) -> np.ndarray:
    """Turn the feature names of a file into columns of the features that are known."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise DataError("model file: features must be a list of names")
    column = {name: j for j, name in enumerate(known)}
    unknown = [name for name in names if name not in column]
    if unknown:
        raise DataError(f"model file: unknown feature {unknown[0]!r}; made by another version?")
    if len(set(names)) != len(names):
        raise DataError("model file: a feature is named twice")
    return np.array([column[name] for name in names], dtype=np.int64)


def _over_numbers(table: np.ndarray) -> np.ndarray:
    """Features of candidates of different numbers of motions: as they are, and between best and worst."""
    return np.concatenate([table, in_form(table, "range")], axis=1)


def _names_over_numbers(names: list[str]) -> list[str]:
    return [*names, *(f"{name}, between best and worst" for name in names)]


def _same_label(labels: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Which tracks have the label of the best candidate, under the best matching of labels."""
    counts = np.zeros((labels.max() + 1, best.max() + 1), dtype=np.int64)
    np.add.at(counts, (labels, best), 1)
    match = np.full(len(counts), -1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    match[rows] = columns
    return match[labels] == best
