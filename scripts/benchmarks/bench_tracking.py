"""Processor time and wall time of a frame: scanned as a whole, and followed.

Usage: python scripts/benchmarks/bench_tracking.py VIDEO --model MODEL [--objects 1] [--first 0]
[--frames 300]

Prints milliseconds a frame of detection alone (decoding and drawing apart), the median after ten frames to
warm up, and in how many of the followed frames the whole frame was scanned.
"""

import argparse
import itertools
import time

import numpy as np

from annealed.datasets.videos import video_frames
from annealed.models import load_model
from annealed.models.keypoints.videos.tracker import ObjectTracker

WARM = 10


def timed(function, frames):
    """Median milliseconds a frame: of processor, and of wall."""
    times = []
    for i, image in enumerate(frames):
        start = time.process_time(), time.perf_counter()
        function(i, image)
        times.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    return 1000 * np.median(times[WARM:], axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("video")
    parser.add_argument("--model", default="face")
    parser.add_argument("--objects", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--frames", type=int, default=300)
    options = parser.parse_args()
    detector = load_model(options.model)
    frames = list(itertools.islice(video_frames(options.video, first=options.first), options.frames))
    tracker = ObjectTracker(detector, options.objects)
    scanned = timed(lambda _, image: detector.detect_objects(image), frames)
    followed = timed(lambda i, image: tracker.step(image, i), frames)
    print("| | processor ms a frame | wall ms a frame |\n|---|---|---|")
    print(f"| scanned as a whole | {scanned[0]:.1f} | {scanned[1]:.1f} |")
    print(f"| followed | {followed[0]:.1f} | {followed[1]:.1f} |")
    found = float(tracker.tracks().there.mean())
    print(
        f"\n{len(frames)} frames, {tracker.n_scans} scanned as a whole while followed; found in {found:.3f}"
    )


if __name__ == "__main__":
    main()
