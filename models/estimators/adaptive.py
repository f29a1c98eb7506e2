"""The loss of a linear classifier by what the training samples show, before anything is selected.

How much of the labels all columns together explain (`signal_share`) tells three situations apart:

- strong signals with some wrong labels, or none (0.35 to 0.7; the sign of a linear function has 0.64): the
  Lorenz loss, which wrong labels disturb least, by small batches;
- weak signals (below): most labels look wrong, and the Lorenz loss would give up on them;
- classes that lie apart, as in wide tables of few samples (above): no label is doubtful, and what limits a
  selection is chance among many columns that all separate the classes.

In the last two cases it is the logistic loss over all rows at once, with a ridge that fades as features
leave.
"""

from dataclasses import dataclass

import numpy as np

from ...features.threads import one_blas_thread
from ..penalties import FadingRidge, Penalty
from ..signal_share import signal_share

STRONG = 0.35
APART = 0.7
NOISE_TO_SIGNAL = 0.3


@dataclass(frozen=True)
class Adapted:
    """What `FSAClassifier` takes where its parameters say "auto".

    Attributes
    ----------
    loss : {"lorenz", "logistic"}
    all_rows : bool
        Whether a batch is all rows.
    penalty : Penalty or None
    """

    loss: str
    all_rows: bool
    penalty: Penalty | None


STRONG_SIGNALS = Adapted("lorenz", False, None)


@one_blas_thread
def adapt(X, targets: np.ndarray) -> Adapted:
    """Choose by the training samples.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    targets : ndarray of shape (n_outputs, n_samples)
        Labels -1 and +1.
    """
    share, n_distinct = signal_share(X, targets, np.random.default_rng(0))
    if STRONG <= share <= APART:
        return STRONG_SIGNALS
    return Adapted("logistic", True, FadingRidge(NOISE_TO_SIGNAL, n_distinct))
