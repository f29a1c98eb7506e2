"""Graphs whose tracks have as many neighbours as stand out."""

import numpy as np
import pytest

from annealed.models.motion.adaptive_graphs import LEAST_EDGE, adaptive_graph
from annealed.models.motion.ordered_residuals import PairKernel


def kernel_of_two(rng, sizes=(30, 12), within=0.6, between=0.2):
    """Agreement of tracks of two motions, with some spread."""
    labels = np.repeat([0, 1], sizes)
    mean = np.where(labels[:, None] == labels, within, between)
    noise = rng.uniform(-0.05, 0.05, mean.shape)
    return PairKernel(mean + noise + noise.T, np.full(mean.shape, 20.0)), labels


def naive_graph(kernel, power):
    """The same track by track."""
    agreement = kernel.similarity * (kernel.shared / (kernel.shared + 1))
    np.fill_diagonal(agreement, 0)
    n = len(agreement)
    near = np.zeros((n, n))
    for i in range(n):
        powered = (agreement[i] / agreement[i].max()) ** power
        powered[i] = 1
        share = (1 - powered) / np.sum(1 - powered)
        entropy = sum(p * np.log(p + 1e-16) for p in share)
        near[i] = np.log(share + 1e-16) < entropy
    return (near + near.T) / 2 * agreement + LEAST_EDGE * (1 - np.eye(n))


@pytest.mark.parametrize("power", [2, 5, 15])
def test_the_graph_is_that_of_the_plain_loop(rng, power):
    kernel, _ = kernel_of_two(rng)
    np.testing.assert_allclose(adaptive_graph(kernel, power), naive_graph(kernel, power), atol=1e-12)


def test_edges_stay_within_motions_whatever_their_sizes(rng):
    kernel, labels = kernel_of_two(rng)
    edges = adaptive_graph(kernel, 5) > 10 * LEAST_EDGE
    same = labels[:, None] == labels
    assert not edges[~same].any()
    assert edges[same].mean() > 0.8


def test_agreement_over_few_pairs_of_frames_counts_less(rng):
    kernel, _ = kernel_of_two(rng)
    few = PairKernel(kernel.similarity, kernel.shared / 20)
    half = adaptive_graph(few, 5)
    np.testing.assert_allclose(half, 0.5 * 21 / 20 * adaptive_graph(kernel, 5), atol=1e-9)


def test_tracks_that_agree_with_none_are_still_in_the_graph(rng):
    kernel, _ = kernel_of_two(rng)
    kernel.similarity[3] = kernel.similarity[:, 3] = 0
    graph = adaptive_graph(kernel, 5)
    assert np.isfinite(graph).all()
    np.testing.assert_allclose(np.delete(graph[3], 3), LEAST_EDGE)
