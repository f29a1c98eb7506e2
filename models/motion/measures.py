"""Features of a candidate segmentation that mean the same for any tracks.

Tracks may have gaps, and candidates may differ in their number of motions: every feature is a share, a cosine
or the logarithm of a ratio, and does not depend on how many tracks, frames and motions there are or on the
size of the image. Low values speak for a candidate throughout. Of each cue:

- how far tracks are from the affine subspace of their own motion (supplement, "likelihood"), from that of the
  next best motion, and from the affine map or fundamental matrix of their motion between two frames;
- how much of the agreement of tracks (`ordered_residuals`) a segmentation cuts, and how many edges of
  nearest-neighbour graphs (supplement, "prior");
- how little is lost when two of its motions are joined, and how near it is to the other candidates.
"""

from collections.abc import Sequence

import numpy as np

from ...features.graphs import cut_proportions, nearest_neighbours
from ...features.subspaces import MOTION_DIMENSIONS, squared_distances
from .cues import MotionCues
from .disagreement import disagreement
from .subspace_refinement import fit_with_gaps

NEIGHBOURS = np.array([1, 3, 8, 20])
LEVELS = np.array([1.5, 2, 3, 5, 8, 13, 21, 34])  # of the noise
KERNELS = ("affine", "homography", "fundamental", "near fundamental", "all")
GRAPHS = (("affine", 5), ("homography", 10), ("fundamental", 10), ("near fundamental", 5), ("all", 10))
SPACES = ("positions", "velocities")
FIT_MODELS = ("affine", "fundamental")
PRECISION = 1e-4  # of the size of the scene: smaller distances are not told apart


def measure_names() -> list[str]:
    """Return the name of each column of `segmentation_measures`."""
    residuals = [
        "mean",
        "root mean square",
        "median",
        "upper decile",
        "worst motion",
        *(f"above {x:g} times the noise" for x in LEVELS),
    ]
    names = [f"subspace residual: {name}" for name in residuals]
    names += [f"{model} residual: {name}" for model in FIT_MODELS for name in residuals]
    names += [
        f"next motion: {name}"
        for name in ("share that is nearer", "mean log ratio", "lower decile", "worst motion")
    ]
    names += [f"joined motions: {name}" for name in ("least loss", "mean loss")]
    for kernel in KERNELS:
        names += [
            f"{kernel} agreement: {name}"
            for name in (
                "cut",
                "worst cut",
                "silhouette",
                "worst silhouette",
                "share astray",
                "within",
                "least within",
            )
        ]
        names += [f"{kernel} agreement: cut of {k} neighbours" for k in NEIGHBOURS]
    names += [f"{space}: cut of {k} neighbours" for space in SPACES for k in NEIGHBOURS]
    names += [f"{graph} graph {power}: {name}" for graph, power in GRAPHS for name in ("cut", "worst cut")]
    names += [f"{graph} graph {power}: eigengap" for graph, power in GRAPHS]
    return [*names, "minus smallest motion", "mean disagreement", "least disagreement", "median disagreement"]


def measure_kinds() -> np.ndarray:
    """Return "likelihood", "prior" or "shape" for each feature, shape (n_features,)."""
    names = measure_names()
    likelihood = [name.split(":")[0].split(" ")[-1] in ("residual", "motion", "motions") for name in names]
    prior = [":" in name for name in names]
    return np.where(likelihood, "likelihood", np.where(prior, "prior", "shape"))


def segmentation_measures(cues: MotionCues, labelings: Sequence[np.ndarray]) -> np.ndarray:
    """Describe candidate segmentations of the same tracks.

    Parameters
    ----------
    cues : MotionCues
    labelings : sequence of ndarray of shape (P,), int
        From 0, every number up to the largest used; -1 marks tracks that take no part.

    Returns
    -------
    ndarray of shape (n_candidates, n_features), float64
        Columns as `measure_names` lists them.
    """
    fits = _MotionFits(cues)
    residuals = [fits.of(labels) for labels in labelings]
    noise = [max(min(float(np.median(r[m])) for r in residuals), PRECISION * cues.size) for m in range(3)]
    graphs = _Graphs(cues)
    rows = []
    for labels, found in zip(labelings, residuals, strict=True):
        row = [_residual_measures(found[m], labels, noise[m], cues.size) for m in range(3)]
        row += [fits.next_motion(labels), fits.joined(labels), graphs.of(labels), _cuts(cues, labels)]
        rows.append(np.concatenate([*row, [-np.bincount(labels).min() / len(labels) * (labels.max() + 1)]]))
    return np.column_stack([np.array(rows), _consensus(labelings)])


def _residual_measures(distance: np.ndarray, labels: np.ndarray, noise: float, size: float) -> np.ndarray:
    """Logarithms of averages, and the shares of tracks above multiples of the noise."""
    per_motion = np.bincount(labels, weights=distance) / np.bincount(labels)
    averages = [
        distance.mean(),
        np.sqrt(np.mean(distance**2)),
        np.median(distance),
        np.quantile(distance, 0.9),
        per_motion.max(),
    ]
    above = 1 - np.searchsorted(np.sort(distance), LEVELS * noise) / len(distance)
    return np.concatenate([np.log(np.array(averages) + PRECISION * size), above])


class _MotionFits:
    """Distances of all tracks to what is fitted to sets of them; sets that return are fitted once."""

    def __init__(self, cues: MotionCues) -> None:
        self.cues = cues
        self.freedom = np.maximum(2 * cues.visible.sum(axis=1) - MOTION_DIMENSIONS, 1)
        self._subspaces: dict[bytes, np.ndarray] = {}
        self._maps: dict[bytes, np.ndarray] = {}

    def _key(self, members: np.ndarray) -> bytes:
        return np.packbits(members).tobytes()

    def subspace(self, members: np.ndarray) -> np.ndarray:
        """Root mean square distance of every track to the subspace of some, per degree of freedom."""
        key = self._key(members)
        if key not in self._subspaces:
            cues = self.cues
            fitted = fit_with_gaps(cues.positions[members], cues.visible[members], cues.filled[members])
            n = int(members.sum())
            few = np.where(members, np.sqrt(n / max(n - MOTION_DIMENSIONS - 1, 0.5)), 1.0)
            squared = squared_distances(cues.positions, cues.visible, fitted)
            self._subspaces[key] = few * np.sqrt(squared / self.freedom)
        return self._subspaces[key]

    def maps(self, members: np.ndarray) -> np.ndarray:
        """Distance of these tracks to their affine map and fundamental matrix, (2, n), mean over pairs."""
        key = self._key(members)
        if key not in self._maps:
            self._maps[key] = _map_residuals(self.cues, np.flatnonzero(members))
        return self._maps[key]

    def of(self, labels: np.ndarray) -> np.ndarray:
        """Distance of each track to its own motion three ways, (3, P)."""
        result = np.zeros((3, len(labels)))
        for label in range(labels.max() + 1):
            own = labels == label
            result[0, own] = self.subspace(own)[own]
            result[1:, own] = self.maps(own)
        return result

    def next_motion(self, labels: np.ndarray) -> np.ndarray:
        """How near the next best motion is; zeros for a single motion."""
        n_motions = labels.max() + 1
        if n_motions == 1:
            return np.zeros(4)
        distances = np.stack([self.subspace(labels == label) for label in range(n_motions)])
        floor = PRECISION * self.cues.size
        own = distances[labels, np.arange(len(labels))]
        distances[labels, np.arange(len(labels))] = np.inf
        ratio = np.clip(np.log((own + floor) / (distances.min(axis=0) + floor)), -5, 5)
        per_motion = np.bincount(labels, weights=ratio) / np.bincount(labels)
        return np.array([np.mean(ratio > 0), ratio.mean(), np.quantile(ratio, 0.9), per_motion.max()])

    def joined(self, labels: np.ndarray) -> np.ndarray:
        """Log ratio of residuals apart and joined, for the pair of motions that loses least, and the mean."""
        n_motions = labels.max() + 1
        if n_motions == 1:
            return np.zeros(2)
        floor = PRECISION * self.cues.size
        losses = []
        for a in range(n_motions):
            for b in range(a):
                both = (labels == a) | (labels == b)
                apart = np.where(labels == a, self.subspace(labels == a), self.subspace(labels == b))[both]
                losses.append(np.mean(np.log((apart + floor) / (self.subspace(both)[both] + floor))))
        return np.array([max(losses), np.mean(losses)])


def _map_residuals(cues: MotionCues, members: np.ndarray) -> np.ndarray:
    total, seen = np.zeros((2, len(members))), np.zeros(len(members))
    for first, second in cues.fitted_pairs:
        both = cues.visible[members, first] & cues.visible[members, second]
        if both.sum() < 4:
            continue
        before, after = cues.positions[members[both], first], cues.positions[members[both], second]
        centre = before.mean(axis=0)
        x, y = (before - centre) / cues.size, (after - centre) / cues.size
        total[0, both] += _affine_errors(x, y)
        total[1, both] += _epipolar_errors(x, y)
        seen[both] += 1
    mean = total.sum(axis=1, keepdims=True) / max(seen.sum(), 1)
    return cues.size * np.where(seen > 0, total / np.maximum(seen, 1), mean)


def _affine_errors(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    n = len(before)
    design = np.column_stack([before, np.ones(n)])
    normal = design.T @ design + 1e-9 * np.eye(3)
    errors = after - design @ np.linalg.solve(normal, design.T @ after)
    return np.linalg.norm(errors, axis=1) * np.sqrt(n / max(n - 3, 0.5))


def _epipolar_errors(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    n = len(before)
    ones = np.ones((n, 1))
    x, u = np.hstack([before, ones]), np.hstack([after, ones])
    design = (u[:, :, None] * x[:, None, :]).reshape(n, 9)
    matrix = np.linalg.eigh(design.T @ design)[1][:, 0].reshape(3, 3)
    lines, back = x @ matrix.T, u @ matrix
    slope = np.sum(lines[:, :2] ** 2, axis=1) + np.sum(back[:, :2] ** 2, axis=1)
    errors = np.abs(np.sum(u * lines, axis=1)) / np.sqrt(np.maximum(slope, 1e-24))
    return errors * np.sqrt(n / max(n - 8, 0.5))


class _Graphs:
    """Agreement kernels and neighbours, and what segmentations cut of them."""

    def __init__(self, cues: MotionCues) -> None:
        n, most = len(cues.positions), int(NEIGHBOURS.max())
        self.kernels = []
        for name in KERNELS:
            kernel = cues.kernels[name]
            similarity = kernel.similarity.copy()
            np.fill_diagonal(similarity, 0)
            shared = kernel.shared > 0
            np.fill_diagonal(shared, False)
            near = np.argsort(-similarity, axis=1, kind="stable")[:, : min(most, n - 1)]
            self.kernels.append((similarity, shared.astype(np.float64), near))
        flat = cues.filled.reshape(n, -1)
        steps = np.diff(cues.filled, axis=1).reshape(n, -1)
        self.spaces = [nearest_neighbours(vectors, most, angular=False) for vectors in (flat, steps)]

    def of(self, labels: np.ndarray) -> np.ndarray:
        parts = []
        for similarity, shared, near in self.kernels:
            parts += [_agreement(similarity, shared, labels), cut_proportions(near, labels, NEIGHBOURS)]
        parts += [cut_proportions(near, labels, NEIGHBOURS) for near in self.spaces]
        return np.concatenate(parts)


def _agreement(similarity: np.ndarray, shared: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Normalised cut, silhouettes and agreement within motions, as `measure_names` lists them."""
    member = np.eye(labels.max() + 1)[labels]
    sums, counts = similarity @ member, shared @ member
    mean = sums / np.maximum(counts, 1)
    i = np.arange(len(labels))
    own = mean[i, labels]
    size = member.sum(axis=0)
    within = (own @ member) / size
    if member.shape[1] == 1:
        return np.array([0, 0, 0, 0, 0, -own.mean(), -within.min()])
    volume = np.maximum(member.T @ sums.sum(axis=1), 1e-12)
    cuts = 1 - np.einsum("ik,ik->k", member, sums) / volume
    mean[i, labels] = -np.inf
    other = mean.max(axis=1)
    silhouette = (own - other) / np.maximum(np.maximum(own, other), 1e-12)
    worst = ((silhouette @ member) / size).min()
    return np.array(
        [
            cuts.mean(),
            cuts.max(),
            -silhouette.mean(),
            -worst,
            np.mean(silhouette < 0),
            -own.mean(),
            -within.min(),
        ]
    )


def _cuts(cues: MotionCues, labels: np.ndarray) -> np.ndarray:
    """Normalised cuts of adaptive graphs, mean and worst, and their eigengaps."""
    n_motions = int(labels.max()) + 1
    gaps = [-cues.eigengap(name, power, n_motions) for name, power in GRAPHS]
    if n_motions == 1:
        return np.array([*np.zeros(2 * len(GRAPHS)), *gaps])
    member = np.eye(n_motions)[labels]
    cuts = []
    for name, power in GRAPHS:
        sums = cues.graph(name, power) @ member
        share = 1 - np.einsum("ik,ik->k", member, sums) / (member.T @ sums.sum(axis=1))
        cuts += [share.mean(), share.max()]
    return np.array([*cuts, *gaps])


def _consensus(labelings: Sequence[np.ndarray]) -> np.ndarray:
    """Mean, least and median disagreement of each candidate with others of as many motions."""
    n_motions = np.array([labels.max() + 1 for labels in labelings])
    found = np.zeros((len(labelings), 3))
    for i, labels in enumerate(labelings):
        others = [j for j in np.flatnonzero(n_motions == n_motions[i]).tolist() if j != i]
        if others:
            far = [disagreement(labels, labelings[j]) for j in others]
            found[i] = np.mean(far), np.min(far), np.median(far)
    return found
