"""Swaps after the annealing of a linear least-squares model (see `swaps.py`)."""

from dataclasses import replace

import numpy as np

from ...features.threads import one_blas_thread
from ..annealing import AnnealingResult
from ..designs import Design
from ..designs.sharded import ShardedDesign
from ..penalties import FadingRidge, Penalty, Ridge
from ..responses import Prepared
from ..swaps import Products, swap

PRODUCT_BYTES = 1 << 26  # of columns whose products with all others are taken in one pass over rows


def can_swap(penalty: Penalty | None) -> bool:
    """Whether the best exchange is known exactly with this penalty: none, or a ridge."""
    return penalty is None or isinstance(penalty, Ridge | FadingRidge)


def ridges_of(penalty: Penalty | None, adapted: FadingRidge | None, k: int) -> tuple[float, float]:
    """Return the ridge of a search among sets of k features, and that of the coefficients after it.

    A stated penalty is both. One that follows from the noise only guides the search.
    """
    if adapted is not None:
        return adapted.strength * k / adapted.n_rows, 0.0
    strength = penalty.at_size(k) if isinstance(penalty, Ridge | FadingRidge) else 0.0
    return strength, strength


@one_blas_thread
def swapped(
    result: AnnealingResult,
    prepared: Prepared,
    targets: np.ndarray,
    weight: np.ndarray,
    *,
    varying: np.ndarray | None,
    ridges: tuple[float, float],
    max_swaps: int,
    always_keep: np.ndarray | None,
) -> AnnealingResult:
    """Return a run's result after exchanging selected features for others while the squared error falls.

    Parameters
    ----------
    result : AnnealingResult
        Of linear responses.
    prepared : Prepared
        Its columns have unit variance.
    targets : ndarray of shape (n_outputs, n_rows), float64
        Of weighted mean zero; rows in the design's order, like `weight`.
    weight : ndarray of shape (n_rows,), positive
    varying : ndarray of int, or None
        The features that are not constant; a design of rows in parts knows them itself.
    ridges : tuple of float
        See `ridges_of`.
    max_swaps : int
    always_keep : ndarray of int, optional
        Features that must stay.
    """
    design = prepared.new_design()
    part = weight / weight.sum()
    means, *with_targets = design.products(np.concatenate([part[None], targets * part]))
    squares = np.zeros(design.n_features)
    squares[design.varies if isinstance(design, ShardedDesign) else varying] = 1.0
    found_before: dict[int, np.ndarray] = {}

    def slopes(j: int) -> np.ndarray:
        # Sparse columns are not centred; against a centred one it makes no difference.
        return part * (_column(prepared, design, j) - means[j])

    if isinstance(design, ShardedDesign):  # a pass over the rows takes its time: several columns in one
        at_once = max(1, PRODUCT_BYTES // (8 * design.n_rows))
        for first in range(0, len(result.kept), at_once):
            some = result.kept[first : first + at_once].tolist()
            found_before.update(zip(some, design.products(np.stack([slopes(j) for j in some])), strict=True))

    def with_column(j: int) -> np.ndarray:
        return found_before[j] if j in found_before else design.products(slopes(j)[None])[0]

    products = Products(np.array(with_targets), with_column, squares, float(np.sum(part * targets**2)))
    found = swap(
        products,
        result.kept,
        max_swaps=max_swaps,
        ridge=ridges[0],
        ridge_after=ridges[1],
        fixed=None if always_keep is None else np.isin(result.kept, always_keep),
    )
    if not found.left:
        return result
    beta, intercept = found.coef[:, :, None], -found.coef @ means[found.kept]
    design.keep(found.kept)
    return replace(
        result,
        model=design.to_model(found.kept, beta, intercept),
        kept=found.kept,
        beta=beta,
        intercept=intercept,
        ranking=_ranking(result.ranking, found.kept, found.left),
    )


def _column(prepared: Prepared, design: Design, j: int) -> np.ndarray:
    """One column of the design, (n_rows,) float64."""
    if isinstance(design, ShardedDesign):
        return design.column(j)
    alone = prepared.new_design()
    alone.keep(np.array([j]))
    return alone.block(0, alone.n_rows).response(np.ones((1, 1, 1)), np.zeros(1))[0]


def _ranking(before: np.ndarray, kept: np.ndarray, left: list[int]) -> np.ndarray:
    """Return 1 for the features kept, then those swapped out, the last first, then the others as before."""
    place = before.astype(np.int64) + len(left)
    place[left] = np.arange(len(left), 0, -1)
    place[kept] = 0
    rest = np.flatnonzero(place > 0)
    ranking = np.ones(len(before), dtype=np.int64)
    ranking[rest[np.argsort(place[rest], kind="stable")]] = 2 + np.arange(len(rest))
    return ranking
