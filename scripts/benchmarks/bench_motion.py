"""Time and memory of segmenting many tracks, and long clips.

Usage: python scripts/benchmarks/bench_motion.py [--tracks 5000] [--frames 100] [--motions auto]

Simulated rigid motions under an affine camera with half a pixel of noise; every track is visible in a part of
the frames. Prints seconds of processor and wall, the process's peak memory before and after, and the share of
tracks in the wrong motion. Compiled code is warm: a small clip is segmented first.
"""

import argparse
import resource
import time

import numpy as np

from annealed.models import load_model
from annealed.models.motion import disagreement, segment

N_MOTIONS = 3


def rigid_tracks(rng, n_tracks, n_frames, longest):
    """Positions (P, F, 2), visibility and labels of three rigid motions."""
    labels = np.sort(rng.integers(0, N_MOTIONS, n_tracks))
    positions = np.empty((n_tracks, n_frames, 2))
    for motion in range(N_MOTIONS):
        own = np.flatnonzero(labels == motion)
        body = rng.normal(0, 60, (len(own), 3))
        # Slow turns and drifts that come back, so that a long clip stays in the picture.
        angle = 0.4 * np.sin(np.arange(n_frames) * rng.uniform(0.02, 0.05) + rng.uniform(0, 6))
        drift = 80 * np.sin(np.arange(n_frames)[:, None] * rng.uniform(0.02, 0.05, 2) + rng.uniform(0, 6, 2))
        place = rng.uniform(100, 500, 2)
        for f in range(n_frames):
            c, s = np.cos(angle[f]), np.sin(angle[f])
            positions[own, f, 0] = c * body[:, 0] + s * body[:, 2]
            positions[own, f, 1] = body[:, 1]
            positions[own, f] += place + drift[f]
    positions += rng.normal(0, 0.5, positions.shape)
    start = rng.integers(0, max(1, n_frames - longest // 2), n_tracks)
    length = rng.integers(longest // 2, longest + 1, n_tracks)
    frames = np.arange(n_frames)
    visible = (frames >= start[:, None]) & (frames < (start + length)[:, None])
    return positions, visible, labels


def peak_gb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracks", type=int, default=5000)
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--motions", default="auto")
    options = parser.parse_args()
    n_motions = None if options.motions == "auto" else int(options.motions)
    ranker = load_model("motions")
    rng = np.random.default_rng(0)
    segment(*rigid_tracks(rng, 60, 12, 12)[:2], n_motions, ranker)
    positions, visible, labels = rigid_tracks(rng, options.tracks, options.frames, min(100, options.frames))
    before, start = peak_gb(), (time.process_time(), time.perf_counter())
    result = segment(positions, visible, n_motions, ranker)
    used, wall = time.process_time() - start[0], time.perf_counter() - start[1]
    known = result.labels >= 0
    wrong = disagreement(result.labels[known], labels[known])
    print("| tracks | frames | windows | processor s | wall s | peak GB before, after | motions | wrong % |")
    print("|---|---|---|---|---|---|---|---|")
    print(
        f"| {options.tracks} | {options.frames} | {len(result.windows)} | {used:.1f} | {wall:.1f} | "
        f"{before:.2f}, {peak_gb():.2f} | {result.n_motions} | {100 * wrong:.2f} |"
    )
    print(f"\n{result.ranked.sum()} tracks ranked, {result.joined.sum()} joined, {known.sum()} labelled")


if __name__ == "__main__":
    main()
