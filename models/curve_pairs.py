"""Which pairs of columns interact: a gradient test of all of them, and annealing among the best.

The test is that of FAST (Y. Lou, R. Caruana, J. Gehrke, G. Hooker. Accurate intelligible models with pairwise
interactions. KDD 2013), on what the curves have left over: two columns are cut into four quarters, and the
pair's score is the largest gain, over all cuts, of a product of two steps. Here the gain is that of the
product alone, without what the columns explain each by itself. The best pairs then become columns of product
bins, among which annealing keeps exactly as many as are asked for.
"""

from itertools import combinations

import numpy as np
from numba import njit

from ..features.threads import share
from .annealing import anneal
from .curve_penalty import CurvePenalty
from .curve_terms import CodedTable
from .designs.binned import BinnedDesign, knot_means
from .knot_table import KnotTable, rows_counted
from .losses import SquaredError
from .schedules import InverseSchedule

CUT_BINS = 8  # that a column is cut between; one more is for what is missing
LARGEST_TEST = 1 << 29  # pairs times rows that are tested: a few seconds
MOST_CATEGORIES = 20  # of a column of a pair
CANDIDATES = 4  # a pair that is kept, that annealing chooses among, and
MORE_CANDIDATES = 8  # these besides
ITERATIONS, RATE = 80, 50.0  # of annealing among the candidates


def choose_pairs(
    coded: CodedTable, residual: np.ndarray, n_pairs: int, first: np.ndarray
) -> list[tuple[int, int]]:
    """Return the pairs of columns whose products explain most of what is left over.

    Parameters
    ----------
    coded : CodedTable
        Columns that must be monotone take no part.
    residual : ndarray of shape (n_outputs, n_rows), float64
    n_pairs : int
    first : ndarray of int64
        Columns by their importance, the best first: where there are too many pairs, those of the first
        columns are tested.

    Returns
    -------
    list of (int, int)
        Ascending, as many as asked for, or all that there are.
    """
    allowed = (~coded.table.is_category | (coded.table.n_knots <= MOST_CATEGORIES)) & (
        coded.table.n_knots > 1
    )
    allowed[list(coded.monotone)] = False
    most = int(np.sqrt(2 * LARGEST_TEST / residual.size))
    columns = np.sort([j for j in first if allowed[j]][: max(2, most)]).astype(np.int64)
    pairs = np.array(list(combinations(range(len(columns)), 2)), dtype=np.int64).reshape(-1, 2)
    if len(pairs) == 0:
        return []
    bins = np.stack([coarse_bins(coded, int(j)) for j in columns])
    scores = _test(bins, residual, coded.weight, pairs)
    n_candidates = min(len(pairs), CANDIDATES * n_pairs + MORE_CANDIDATES)
    best = np.sort(np.argsort(-scores, kind="stable")[:n_candidates])
    chosen = _anneal_products(bins, residual, coded.weight, pairs[best], min(n_pairs, n_candidates))
    return [(int(columns[a]), int(columns[b])) for a, b in pairs[best][chosen]]


def coarse_bins(coded: CodedTable, column: int) -> np.ndarray:
    """Return the bin of each row among CUT_BINS, and CUT_BINS for what is missing; uint8."""
    n = int(coded.table.n_knots[column])
    basis = coded.table.basis
    knot = np.searchsorted(basis.first_codes, np.arange(len(basis.position)), side="right") - 1
    at = np.minimum(knot + basis.position, n - 1)
    coarse = at if n <= CUT_BINS else at * CUT_BINS / (n - 1)
    coarse = np.minimum(np.floor(coarse + 1e-9), CUT_BINS - 1)
    coarse[-1] = CUT_BINS
    return coarse.astype(np.uint8)[coded.codes[column]]


def _test(bins: np.ndarray, residual: np.ndarray, weight: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the score of each pair of rows of `bins`."""
    scores = np.zeros(len(pairs))
    pulls = np.ascontiguousarray(residual * weight)
    share(
        len(pairs),
        lambda first, last: _score_pairs(bins, pulls, weight, pairs, first, last, scores),
        least=max(1, (1 << 18) // residual.size),
    )
    return scores


@njit(cache=True, nogil=True)
def _score_pairs(bins, pulls, weight, pairs, first, last, scores):
    size = CUT_BINS + 1
    for p in range(first, last):
        a, b = bins[pairs[p, 0]], bins[pairs[p, 1]]
        rows = np.zeros((size, size))
        for i in range(len(weight)):
            rows[a[i], b[i]] += weight[i]
        for o in range(len(pulls)):
            sums = np.zeros((size, size))
            for i in range(len(weight)):
                sums[a[i], b[i]] += pulls[o, i]
            scores[p] += _best_cut(rows, sums)


@njit(cache=True)
def _best_cut(rows, sums):
    """Return the largest gain of a product of two steps: a squared contrast of means over its variance."""
    size = len(rows)
    n, s = np.zeros((size + 1, size + 1)), np.zeros((size + 1, size + 1))  # sums of all cells before
    for i in range(size):
        for j in range(size):
            n[i + 1, j + 1] = rows[i, j] + n[i, j + 1] + n[i + 1, j] - n[i, j]
            s[i + 1, j + 1] = sums[i, j] + s[i, j + 1] + s[i + 1, j] - s[i, j]
    best = 0.0
    for i in range(1, size):
        for j in range(1, size):
            n_a, n_b = n[i, j], n[i, size] - n[i, j]
            n_c, n_d = n[size, j] - n[i, j], n[size, size] - n[i, size] - n[size, j] + n[i, j]
            if min(n_a, n_b, n_c, n_d) < 1.0:
                continue
            s_a, s_b = s[i, j], s[i, size] - s[i, j]
            s_c, s_d = s[size, j] - s[i, j], s[size, size] - s[i, size] - s[size, j] + s[i, j]
            contrast = s_a / n_a - s_b / n_b - s_c / n_c + s_d / n_d
            best = max(best, contrast * contrast / (1 / n_a + 1 / n_b + 1 / n_c + 1 / n_d))
    return best


def _anneal_products(
    bins: np.ndarray, residual: np.ndarray, weight: np.ndarray, pairs: np.ndarray, n_pairs: int
) -> np.ndarray:
    """Return which of the pairs annealing keeps, each a column of product bins."""
    size = CUT_BINS + 1
    cells = np.stack([bins[a].astype(np.int64) * size + bins[b] for a, b in pairs])
    numbers = np.broadcast_to(np.arange(size * size, dtype=np.float64), (len(pairs), size * size))
    n_cells = np.full(len(pairs), size * size)
    table = KnotTable(numbers, n_cells, np.ones(len(pairs), dtype=bool))
    codes = table.encode(cells.astype(np.float64))
    means = knot_means(codes, table.basis, weight * (len(weight) / weight.sum()))
    n_counted = rows_counted(len(weight), weight.sum())
    scale = table.scale(means, n_counted)
    result = anneal(
        BinnedDesign(codes, table.basis, means, scale),
        SquaredError(residual, weight),
        CurvePenalty(None, table, scale, n_counted),
        InverseSchedule(n_pairs, ITERATIONS, RATE),
        batch_size=None,
        tol=np.inf,
    )
    return result.kept
