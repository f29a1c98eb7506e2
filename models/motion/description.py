"""Features of a candidate segmentation (supplement, "Likelihood and Prior Based Features").

Everything that depends on the tracks alone, their vectors in several spaces and the neighbours in each,
is computed once for all candidates. Low values speak for a candidate throughout.

Spaces: the positions, the velocity vectors, and both projected to five dimensions from 2K to 4K (the
velocities as the orthonormal coordinates that are clustered, the positions as principal components).
"""

from collections.abc import Sequence

import numpy as np

from ...features.errors import ParameterError
from ...features.graphs import cut_proportions, nearest_neighbours
from ...features.subspaces import Residuals, subspace_residuals
from ...features.velocities import principal_coordinates, raw_trajectories, velocities
from .disagreement import disagreement

N_DIMENSIONS = 5
SMALLEST = 4
# Thresholds tau, in units of the space's root mean square distance from its mean.
THRESHOLDS = np.geomspace(1e-4, 1.0, 44)
GRAPH_SIZES = np.array([*range(1, 21), 25, 30, 40, 50, 60])
SMALLEST_RANGE = 1e-12
FORMS = ("raw", "relative", "range")


def segmentation_features(
    positions: np.ndarray, n_motions: int, labelings: Sequence[np.ndarray], *, form: str = "relative"
) -> np.ndarray:
    """Describe candidate segmentations of the same tracks.

    Parameters
    ----------
    positions : ndarray of shape (P, F, 2)
    n_motions : int
        K, which sets the dimensions of the projections.
    labelings : sequence of ndarray of shape (P,), int
    form : {"raw", "relative"}
        "relative" subtracts, feature by feature, the least value among these candidates: a departure from
        the paper that makes sequences comparable.

    Returns
    -------
    ndarray of shape (n_candidates, n_features), float64
        Columns as `feature_names` lists them.
    """
    spaces = _spaces(positions, n_motions)
    columns = [_likelihood(spaces, labelings), _prior(spaces, labelings), _cluster_sizes(labelings)]
    table = np.concatenate([*columns, _consensus(labelings)], axis=1)
    return in_form(table, form)


def in_form(table: np.ndarray, form: str) -> np.ndarray:
    """Give the raw features of all candidates of one set of tracks a form.

    "relative" subtracts each feature's least value, and "range" divides what is left by its largest: the
    best candidate by a feature has 0 and the worst 1, whatever the tracks.
    """
    if form not in FORMS:
        raise ParameterError(f"form must be one of {FORMS}, got {form!r}")
    if form == "raw":
        return table
    least = relative(table)
    return least if form == "relative" else least / np.maximum(least.max(axis=0), SMALLEST_RANGE)


def relative(table: np.ndarray) -> np.ndarray:
    """Subtract from each column its least value."""
    return table - table.min(axis=0)


def _space_names() -> list[str]:
    projected = [f"{kind}@{i}" for kind in ("coordinates", "components") for i in range(N_DIMENSIONS)]
    return ["positions", "velocities", *projected]


def _spaces(positions: np.ndarray, n_motions: int) -> dict[str, np.ndarray]:
    raw, moving = raw_trajectories(positions), velocities(positions)
    coordinates = principal_coordinates(moving, 4 * n_motions)
    centred = raw - raw.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    dimensions = np.round(np.linspace(2 * n_motions, 4 * n_motions, N_DIMENSIONS)).astype(int)
    vectors = [
        raw,
        moving,
        *(coordinates[:, :d] for d in dimensions),
        *((left * values)[:, :d] for d in dimensions),
    ]
    return dict(zip(_space_names(), map(_unit_spread, vectors), strict=True))


def _unit_spread(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors so that their root mean square distance from the mean is one."""
    spread = np.sqrt(np.mean(np.sum((vectors - vectors.mean(axis=0)) ** 2, axis=1)))
    return vectors / max(spread, np.finfo(float).tiny)


def _likelihood(spaces: dict[str, np.ndarray], labelings: Sequence[np.ndarray]) -> np.ndarray:
    rows = []
    for labels in labelings:
        residuals = [subspace_residuals(vectors, labels) for vectors in spaces.values()]
        measures = np.array([[_measures(distance, labels) for distance in space] for space in residuals])
        rows.append(np.concatenate([measures.ravel(), _smallest(measures)]))
    return np.array(rows)


def _measures(distance: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Average, average square, worst cluster's average, share above each threshold."""
    per_label = np.bincount(labels, weights=distance) / np.maximum(np.bincount(labels), 1)
    above = 1 - np.searchsorted(np.sort(distance), THRESHOLDS, side="left") / len(distance)
    return np.concatenate([[distance.mean(), np.mean(distance**2), per_label.max()], above])


def _smallest(measures: np.ndarray) -> np.ndarray:
    """The least of the average and squared distances over the projections of each kind, sorted."""
    n_forms = measures.shape[1]
    projected = measures[2:, :, :2].reshape(2, N_DIMENSIONS, n_forms, 2)
    return np.sort(projected, axis=1)[:, :SMALLEST].ravel()


def _prior(spaces: dict[str, np.ndarray], labelings: Sequence[np.ndarray]) -> np.ndarray:
    columns = []
    for vectors in spaces.values():
        for angular in (False, True):
            near = nearest_neighbours(vectors, int(GRAPH_SIZES.max()), angular=angular)
            columns.append([cut_proportions(near, labels, GRAPH_SIZES) for labels in labelings])
    return np.concatenate(columns, axis=1)


def _cluster_sizes(labelings: Sequence[np.ndarray]) -> np.ndarray:
    """Minus the share of the smallest cluster, and the share of the largest."""
    shares = [np.bincount(labels) / len(labels) for labels in labelings]
    return np.array([[-share.min(), share.max()] for share in shares])


def _consensus(labelings: Sequence[np.ndarray]) -> np.ndarray:
    """Mean and least disagreement of each candidate with the others; zero for a single one."""
    n = len(labelings)
    if n == 1:
        return np.zeros((1, 2))
    table = np.array([[disagreement(a, b) for b in labelings] for a in labelings])
    others = table[~np.eye(n, dtype=bool)].reshape(n, n - 1)
    return np.column_stack([others.mean(axis=1), others.min(axis=1)])


def feature_kinds() -> np.ndarray:
    """Return "likelihood", "prior" or "shape" for each feature, shape (n_features,)."""
    n_spaces, n_forms = len(_space_names()), len(Residuals._fields)
    n_likelihood = n_spaces * n_forms * (3 + len(THRESHOLDS)) + 2 * SMALLEST * n_forms * 2
    n_prior = n_spaces * 2 * len(GRAPH_SIZES)
    return np.array(["likelihood"] * n_likelihood + ["prior"] * n_prior + ["shape"] * 4)


def feature_names() -> list[str]:
    """Return the name of each column of `segmentation_features`."""
    measures = ["average", "average square", "worst cluster", *(f"above {t:.2g}" for t in THRESHOLDS)]
    names = [
        f"{space} {form}: {measure}"
        for space in _space_names()
        for form in Residuals._fields
        for measure in measures
    ]
    names += [
        f"{kind} {form}: {measure}, {rank + 1}. least"
        for kind in ("coordinates", "components")
        for rank in range(SMALLEST)
        for form in Residuals._fields
        for measure in measures[:2]
    ]
    names += [
        f"{space} {'angle' if angular else 'distance'}: cut of {k} neighbours"
        for space in _space_names()
        for angular in (False, True)
        for k in GRAPH_SIZES
    ]
    sizes = ["minus smallest cluster's share", "largest cluster's share"]
    return [*names, *sizes, "mean disagreement", "least disagreement"]
