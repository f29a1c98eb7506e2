"""The candidates of a pool with the features that belong to it."""

from dataclasses import dataclass

import numpy as np

from .candidates import Candidate, candidates, candidates_of_cues
from .cues import MotionCues
from .description import feature_kinds, feature_names, segmentation_features
from .measures import measure_kinds, measure_names, segmentation_measures


@dataclass(frozen=True, eq=False)
class DescribedCandidates:
    """Candidate segmentations of one set of tracks and their raw features.

    Attributes
    ----------
    candidates : list of Candidate
    table : ndarray of shape (n_candidates, n_features), float64
        Columns as `names_of` the pool lists them.
    """

    candidates: list[Candidate]
    table: np.ndarray

    @property
    def n_motions(self) -> np.ndarray:
        """Motions of each candidate, (n_candidates,)."""
        return np.array([int(candidate.labels.max()) + 1 for candidate in self.candidates])

    def of_number(self, n_motions: int) -> "DescribedCandidates":
        """Return the candidates of so many motions."""
        rows = np.flatnonzero(self.n_motions == n_motions)
        return DescribedCandidates([self.candidates[i] for i in rows], self.table[rows])


def names_of(pool: str) -> list[str]:
    """Return the names of the features of a pool's candidates."""
    return measure_names() if pool == "pairs" else feature_names()


def kinds_of(pool: str) -> np.ndarray:
    """Return the kinds of the features: "likelihood", "prior" or "shape"."""
    return measure_kinds() if pool == "pairs" else feature_kinds()


def described_candidates(
    positions: np.ndarray, n_motions: int, pool: str, least_share: float | None = None
) -> DescribedCandidates:
    """Generate and describe candidates for complete tracks (P, F, 2), of any pool."""
    options = {} if least_share is None else {"least_share": least_share}
    if pool == "pairs":
        cues = MotionCues(positions, np.ones(positions.shape[:2], dtype=bool))
        return described_by_cues(cues, [n_motions], **options)
    found = candidates(positions, n_motions, pool=pool, **options)
    labelings = [candidate.labels for candidate in found]
    return DescribedCandidates(found, segmentation_features(positions, n_motions, labelings, form="raw"))


def described_by_cues(cues: MotionCues, numbers: list[int], **options: float) -> DescribedCandidates:
    """Generate and describe the candidates of the pool "pairs" for several numbers of motions."""
    found = [candidate for number in numbers for candidate in candidates_of_cues(cues, number, **options)]
    return DescribedCandidates(found, segmentation_measures(cues, [c.labels for c in found]))
