"""Ranking candidate segmentations by annealed feature selection (section 3.4, Algorithm 2)."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...features.errors import DataError, ParameterError
from ..additive import PiecewiseModel
from ..comparable_pairs import comparable_pairs
from ..estimators import FSARanker
from ..model_files import ModelFile, write_model_file
from ..penalties import Ridge
from ..responses import Piecewise
from .candidates import POOLS, Candidate, candidates
from .description import FORMS, feature_kinds, feature_names, formed, segmentation_features
from .disagreement import disagreement

KIND = "motion-ranker"
FEATURES = ("all", "likelihood", "prior")


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidate segmentations, best first.

    Attributes
    ----------
    candidates : list of Candidate
    scores : ndarray of shape (n_candidates,), float64
        Of the ranking function, descending; comparable within one set of tracks only.
    """

    candidates: list[Candidate]
    scores: np.ndarray

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def best(self) -> Candidate:
        """The candidate that ranks first."""
        return self.candidates[0]


class MotionRanker:
    """Choose among candidate segmentations of tracks, learned from tracks with labels.

    Parameters
    ----------
    pool : {"paper", "large"}
        Candidates to choose among; see `candidates`.
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
        The ranking function, over the columns of `segmentation_features`.
    metadata_ : dict
        What the model file recorded of its training.

    Examples
    --------
    >>> from annealed.models.motion import MotionRanker
    >>> ranker = MotionRanker().fit(positions, labels)  # doctest: +SKIP
    >>> ranker.rank(new_positions, n_motions=2).best.labels  # doctest: +SKIP
    """

    model_: PiecewiseModel
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
            n_motions = len(np.unique(truth))
            labelings = [c.labels for c in candidates(positions, n_motions, pool=self.pool)]
            tables.append(segmentation_features(positions, n_motions, labelings, form="raw"))
            errors.append(np.array([disagreement(found, truth) for found in labelings]))
        return self.fit_candidates(tables, errors)

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
        columns = used_columns(self.features)
        table = np.concatenate([formed(table, self.form)[:, columns] for table in tables])
        sequence = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        ranker = FSARanker(
            k=self.k,
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
        self.model_ = model.with_features(columns[model.features])
        self.metadata_ = {}
        return self

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
        return self.model_.respond(formed(table, self.form))[:, 0]

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
        found = candidates(positions, n_motions, pool=self.pool)
        table = segmentation_features(positions, n_motions, [c.labels for c in found], form="raw")
        scores = self.score(table)
        order = np.argsort(-scores, kind="stable")
        return Ranking([found[i] for i in order], scores[order])

    @property
    def selected_names(self) -> list[str]:
        """Names of the selected features, strongest first."""
        names = feature_names()
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
        names = feature_names()
        arrays = self.model_.to_arrays()
        del arrays["features"]  # columns; names are kept, which other versions number otherwise
        document = {
            "features": [names[j] for j in self.model_.features],
            "parameters": self._parameters(),
            "training": metadata or {},
        }
        write_model_file(path, KIND, arrays, document)

    def _parameters(self) -> dict[str, Any]:
        names = ("pool", "features", "form", "k", "n_bins", "n_iter", "mu", "learning_rate", "shrinkage")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_model_file(cls, file: ModelFile) -> "MotionRanker":
        """Build the ranker that a model file holds, after checking everything in it."""
        columns = _columns_named(file.metadata.get("features"))
        model = PiecewiseModel.from_arrays(file, features=columns, n_outputs=1)
        try:
            ranker = cls(**file.metadata["parameters"])
        except (KeyError, TypeError) as error:
            raise DataError(f"model file: the ranker's parameters do not fit ({error})") from None
        except ParameterError as error:
            raise DataError(f"model file: {error}") from None
        ranker.model_ = model
        training = file.metadata.get("training")
        ranker.metadata_ = training if isinstance(training, dict) else {}
        return ranker


def _per_sequence(sequence: np.ndarray) -> np.ndarray:
    """Weigh pairs, whose sequences are given, so that every sequence with a pair counts the same."""
    return 1 / np.bincount(sequence)[sequence]


def _columns_named(names: Any) -> np.ndarray:
    """Turn the feature names of a file into columns of `segmentation_features`."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise DataError("model file: features must be a list of names")
    column = {name: j for j, name in enumerate(feature_names())}
    unknown = [name for name in names if name not in column]
    if unknown:
        raise DataError(f"model file: unknown feature {unknown[0]!r}; made by another version?")
    if len(set(names)) != len(names):
        raise DataError("model file: a feature is named twice")
    return np.array([column[name] for name in names], dtype=np.int64)


def used_columns(features: str) -> np.ndarray:
    """Return the columns of `segmentation_features` of a kind: "all", "likelihood" or "prior"."""
    kinds = feature_kinds()
    return np.flatnonzero(kinds == features) if features != "all" else np.arange(len(kinds))
