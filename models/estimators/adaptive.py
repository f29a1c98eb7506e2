"""What the linear estimators take where their parameters say "auto", by what the training samples show.

How much of the target all columns together explain, the share h of `signal_share`, is known before anything
is selected. For labels it tells three situations apart:

- two classes with strong signals and some wrong labels, or none (0.35 to 0.75; the sign of a linear function
  has 0.64): the Lorenz loss, which wrong labels disturb least, by small batches, and the logistic loss
  likewise; the one whose model errs on fewer training samples stays, which is seldom the logistic loss where
  labels are wrong. If the Lorenz model errs on more than a fifth of them, signals are weak after all;
- weak signals (below): most labels look wrong, and the Lorenz loss would give up on them;
- classes that lie apart, as in wide tables of few samples (above), and several classes: no label is doubtful,
  and what limits a selection is chance among many columns that all separate the classes.

In the last two cases it is the logistic loss over all rows at once, with a ridge that fades as features
leave; for quantities it is the squared error with such a ridge, and the final coefficients are least
squares. The ridge is the ratio of noise to signal, (1 - h) / h, within bounds.
`scripts/experiments/reproduce_defaults.py` compares such rules on tables and simulations, half of them kept
apart.
"""

from dataclasses import dataclass

import numpy as np

from ...features.threads import one_blas_thread
from ..penalties import FadingRidge
from ..signal_share import signal_share

STRONG = 0.35
APART = 0.75  # two standard errors, with 256 rows looked at, above 0.64
DOUBTFUL_ERROR = 0.2  # of the Lorenz model on the training samples
LEAST_RIDGE = 0.3
LARGEST_RIDGE = {"labels": 1.0, "quantities": 3.0}


@dataclass(frozen=True)
class Adapted:
    """What `FSAClassifier` takes where its parameters say "auto".

    Attributes
    ----------
    are_strong : bool
        Whether the signals are, of two classes: the Lorenz loss may be the right one.
    ridge : FadingRidge
        Else that of the logistic loss over all rows.
    """

    are_strong: bool
    ridge: FadingRidge


@one_blas_thread
def adapt_to_labels(X, targets: np.ndarray, sizes: tuple[int, ...]) -> Adapted:
    """Look at the training samples.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    targets : ndarray of shape (n_outputs, n_samples)
        Labels -1 and +1.
    sizes : tuple of int
        Features of the models wanted.
    """
    share, n_distinct = signal_share(X, targets, np.random.default_rng(0))
    ridge = FadingRidge(_noise_to_signal(share, "labels"), n_distinct, sizes, least=1.0)
    return Adapted(STRONG <= share <= APART and len(targets) == 1, ridge)


@one_blas_thread
def adapt_to_quantities(X, targets: np.ndarray, sizes: tuple[int, ...]) -> FadingRidge:
    """Choose the ridge of a regression of targets (n_outputs, n_samples) by the training samples."""
    share, n_distinct = signal_share(X, targets, np.random.default_rng(0))
    return FadingRidge(_noise_to_signal(share, "quantities"), n_distinct, sizes)


def _noise_to_signal(share: float, of: str) -> float:
    return float(np.clip((1 - share) / share, LEAST_RIDGE, LARGEST_RIDGE[of]))
