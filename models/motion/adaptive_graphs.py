"""Graphs of agreeing tracks, each track with as many neighbours as stand out from the rest.

A fixed number of neighbours is too many for a small motion and too few for a large one whose tracks agree by
patches. Here the agreements of a track, raised to a power, are compared with their own entropy: the adaptive
neighbourhoods of X. Xu, L.-F. Cheong, Z. Li. Motion segmentation by exploiting complementary geometric
models. CVPR 2018; the power is their alpha, from 5 to 15.
"""

import numpy as np

from .ordered_residuals import PairKernel

FEW_SHARED = 1.0  # pairs of frames; with so many an agreement counts half
_TINY = 1e-16
LEAST_EDGE = 1e-10  # keeps the graph in one piece


def adaptive_graph(kernel: PairKernel, power: float) -> np.ndarray:
    """Keep the agreements that stand out from those of their tracks.

    Parameters
    ----------
    kernel : PairKernel
    power : float
        The larger, the fewer edges.

    Returns
    -------
    ndarray of shape (P, P), float64, symmetric
        Zero on the diagonal.
    """
    agreement = kernel.similarity * (kernel.shared / (kernel.shared + FEW_SHARED))
    np.fill_diagonal(agreement, 0)
    largest = agreement.max(axis=1, keepdims=True)
    powered = np.divide(agreement, largest, out=np.zeros_like(agreement), where=largest > 0) ** power
    np.fill_diagonal(powered, 1)  # a track is nearest to itself
    missing = 1 - powered
    logs = np.log(missing / missing.sum(axis=1, keepdims=True) + _TINY)
    entropy = np.sum((np.exp(logs) - _TINY) * logs, axis=1, keepdims=True)
    near = logs < entropy
    graph = 0.5 * (near.astype(np.float64) + near.T) * agreement
    return graph + LEAST_EDGE * (1 - np.eye(len(graph)))
