"""The exact fit of the curves that annealing has selected, each as smooth as the rows say.

Few curves have few coefficients, so that their penalised least squares can be solved at once instead of by
more gradient steps: directly for the squared error, by iterated weights for the logistic loss. How smooth
each term is comes out of the same equations. The penalty Lambda_j beta' S_j beta is a normal prior, and its
strength the one that makes the rows likeliest; the generalised Fellner-Schall update raises that likelihood
at every step (S. N. Wood, M. Fasiolo. A generalized Fellner-Schall method for smoothing parameter
optimization with application to Tweedie location, scale and shape models. Biometrics 73, 2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.isotonic import isotonic_regression

from ..features.threads import one_blas_thread

MOST_COEFFICIENTS = 1500  # of a fit: its equations take 18 MB, and a second or so
MOST_UPDATES = 30
SETTLED = 1e-2  # relative change of the smoothing, at which it is done
CHUNK_ROWS = 1 << 15
LEAST_PRIOR = 1e-4
"""Rows that each coefficient is thought to have at zero: the constant of a curve belongs to the intercept."""
LEAST_STRENGTH, LARGEST_STRENGTH = 1e-6, 1e9
LEAST_WEIGHT = 1e-6  # of a row in the iterated weights
PROJECTIONS = 400
MONOTONE_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Basis:
    """The basis functions of one term, of which each row has a few that are not zero.

    Attributes
    ----------
    place : ndarray of shape (n_rows, n_corners), int64
        Coefficients that a row has to do with.
    part : ndarray of shape (n_rows, n_corners), float64
        And how much; their sum is one.
    n_coefficients : int
    roughness : ndarray of shape (n_coefficients, n_coefficients), float64
        S_j.
    prior : ndarray of shape (n_coefficients,), float64
        Rows at the mean response.
    monotone : int
        +1 or -1 where a curve may only rise or fall, but for its last coefficient, the missing value's.
    """

    place: np.ndarray
    part: np.ndarray
    n_coefficients: int
    roughness: np.ndarray
    prior: np.ndarray
    monotone: int = 0


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients of each term with mean zero over the rows, and the intercept."""

    values: list[np.ndarray]
    intercept: float
    means: list[np.ndarray]

    def respond(self, terms: Sequence[Basis]) -> np.ndarray:
        """Return the response of each row to the terms of the fit."""
        out = np.full(len(terms[0].place), self.intercept)
        for term, values in zip(terms, self.values, strict=True):
            _add_response(term.place, term.part, values, out)
        return out


class _Equations:
    """The weighted normal equations of all terms, in centred basis functions."""

    def __init__(self, terms: Sequence[Basis], weight: np.ndarray) -> None:
        self.terms = terms
        ends = np.cumsum([0, *(term.n_coefficients for term in terms)])
        self.spans = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self.n = int(ends[-1])
        self.weight = weight
        self.means = np.concatenate([_sums(term, weight) for term in terms]) / weight.sum()
        self.prior = np.concatenate([np.maximum(term.prior, LEAST_PRIOR) for term in terms])

    def gram(self, weight: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return X'WX and X'Wz with the intercept's column last, shapes (n + 1, n + 1) and (n + 1,)."""
        G, right = np.zeros((self.n + 1, self.n + 1)), np.zeros(self.n + 1)
        for a, one in zip(self.spans, self.terms, strict=True):
            for b, other in zip(self.spans, self.terms, strict=True):
                if b.start >= a.start:
                    _add_products(one.place, one.part, other.place, other.part, weight, G[a, b])
                    G[b, a] = G[a, b].T
            G[a, -1] = G[-1, a] = _sums(one, weight)
            right[a] = _sums(one, weight * target)
        G[-1, -1], right[-1] = weight.sum(), (weight * target).sum()
        # Centring is a change of basis: each function minus its mean times the constant one.
        m = np.append(self.means, 0.0)
        across = G[-1].copy()
        G -= np.outer(m, across) + np.outer(across, m) - np.outer(m, m) * G[-1, -1]
        right -= m * right[-1]
        return G, right

    def respond(self, beta: np.ndarray) -> np.ndarray:
        """Return the response of each row."""
        out = np.full(len(self.weight), beta[-1] - self.means @ beta[:-1])
        for span, term in zip(self.spans, self.terms, strict=True):
            _add_response(term.place, term.part, beta[span], out)
        return out

    def penalty(self, strengths: np.ndarray) -> np.ndarray:
        S = np.zeros((self.n + 1, self.n + 1))
        for span, term, strength in zip(self.spans, self.terms, strengths, strict=True):
            S[span, span] = strength * term.roughness
        S[np.arange(self.n), np.arange(self.n)] += self.prior
        return S

    def fit_of(self, beta: np.ndarray) -> Fit:
        values = [beta[span] - self.means[span] @ beta[span] for span in self.spans]
        return Fit(values, float(beta[-1]), [self.means[span] for span in self.spans])


@one_blas_thread
def fit_curves(
    terms: Sequence[Basis], target: np.ndarray, weight: np.ndarray, *, logistic: bool = False
) -> Fit:
    """Fit the terms to one target.

    Parameters
    ----------
    terms : sequence of Basis
    target : ndarray of shape (n_rows,), float64
        Values, or labels -1 and +1 of the logistic loss.
    weight : ndarray of shape (n_rows,), float64
        Their sum is the number of rows that they count for.
    logistic : bool
    """
    equations = _Equations(terms, weight)
    strengths = np.ones(len(terms))
    ranks = np.array([np.linalg.matrix_rank(term.roughness, hermitian=True) for term in terms])
    response = np.full(len(target), _log_odds(target, weight) if logistic else 0.0)
    rows = _working_rows(target, weight, response, logistic)
    G, right = equations.gram(*rows)
    squares = float(rows[0] @ rows[1] ** 2)
    beta = np.zeros(equations.n + 1)
    for _ in range(MOST_UPDATES):
        factor = cho_factor(G + equations.penalty(strengths), lower=True)
        beta = cho_solve(factor, right)
        inverse = cho_solve(factor, np.eye(len(G)))
        spread = 1.0
        if not logistic:
            spent = float(np.sum(inverse * G))
            spread = (squares - 2 * beta @ right + beta @ G @ beta) / max(1.0, weight.sum() - spent)
        before, strengths = strengths, _next_strengths(equations, strengths, ranks, beta, inverse, spread)
        if logistic:
            response = equations.respond(beta)
            G, right = equations.gram(*_working_rows(target, weight, response, True))
        if np.abs(np.log(strengths / before)).max(initial=0.0) < SETTLED:
            break
    S = equations.penalty(strengths)
    beta = cho_solve(cho_factor(G + S, lower=True), right)
    if any(term.monotone for term in terms):
        beta = _project(equations, G + S, right, beta)
        for _ in range(MONOTONE_ROUNDS if logistic else 0):
            G, right = equations.gram(*_working_rows(target, weight, equations.respond(beta), True))
            beta = _project(equations, G + S, right, beta)
    return equations.fit_of(beta)


def _log_odds(target: np.ndarray, weight: np.ndarray) -> float:
    positive = (weight[target > 0].sum() + 1) / (weight.sum() + 2)
    return float(np.log(positive / (1 - positive)))


def _working_rows(
    target: np.ndarray, weight: np.ndarray, response: np.ndarray, logistic: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and values whose least squares are a Newton step of the logistic loss."""
    if not logistic:
        return weight, target
    p = expit(response)
    bend = np.maximum(p * (1 - p), LEAST_WEIGHT)
    return weight * bend, response + ((target > 0) - p) / bend


def _next_strengths(equations, strengths, ranks, beta, inverse, spread) -> np.ndarray:
    """Take a Fellner-Schall step for the smoothing of each term."""
    out = strengths.copy()
    for j, (span, term) in enumerate(zip(equations.spans, equations.terms, strict=True)):
        if ranks[j] == 0:
            continue
        rough = float(beta[span] @ term.roughness @ beta[span])
        free = ranks[j] - strengths[j] * float(np.sum(inverse[span, span] * term.roughness))
        out[j] = spread * max(free, 1e-9) / max(rough, 1e-300)
    return np.clip(out, LEAST_STRENGTH, LARGEST_STRENGTH)


def _project(equations: _Equations, A: np.ndarray, right: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Minimise beta'A beta / 2 - right'beta over monotone curves, by projected steps with momentum.

    In the metric of A's diagonal a projection is an isotonic regression of each curve with weights.
    """
    diagonal = np.diag(A).copy()
    root = np.sqrt(diagonal)
    step = 1 / np.linalg.eigvalsh(A / np.outer(root, root))[-1]
    point = beta = _isotonic(equations, beta, diagonal)
    t = 1.0
    for _ in range(PROJECTIONS):
        new = _isotonic(equations, point - step * (A @ point - right) / diagonal, diagonal)
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        point, beta, t = new + (t - 1) / t_new * (new - beta), new, t_new
    return beta


def _isotonic(equations: _Equations, beta: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    out = beta.copy()
    for span, term in zip(equations.spans, equations.terms, strict=True):
        if term.monotone:
            curve = slice(span.start, span.stop - 1)
            out[curve] = isotonic_regression(
                beta[curve], sample_weight=diagonal[curve], increasing=term.monotone > 0
            )
    return out


def _sums(term: Basis, weight: np.ndarray) -> np.ndarray:
    """Return the weighted sum of each basis function, shape (n_coefficients,)."""
    out = np.zeros(term.n_coefficients)
    _add_sums(term.place, term.part, weight, out)
    return out


@njit(cache=True, nogil=True)
def _add_sums(place, part, weight, out):
    for i in range(len(place)):
        for r in range(place.shape[1]):
            out[place[i, r]] += weight[i] * part[i, r]


@njit(cache=True, nogil=True)
def _add_response(place, part, values, out):
    for i in range(len(place)):
        for r in range(place.shape[1]):
            out[i] += part[i, r] * values[place[i, r]]


@njit(cache=True, nogil=True)
def _add_products(place, part, place2, part2, weight, out):
    """out[a, b] += sum over rows of weight u_a v_b."""
    for i in range(len(place)):
        for r in range(place.shape[1]):
            share = weight[i] * part[i, r]
            if share != 0.0:
                for s in range(place2.shape[1]):
                    out[place[i, r], place2[i, s]] += share * part2[i, s]
