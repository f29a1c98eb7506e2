"""The original videos of Hopkins 155, end to end from pixels: track, segment, compare with the annotation.

    scripts/experiments/reproduce_videos.py ../shared/data/hopkins155 --model motions --out runs/videos

For each sequence with its video beside it: points are tracked through the video, segmented into the known
number of motions, and labelled by the nearest annotated point, if that is within 5 pixels on average over
the frames that both are visible in (farther points are left out: nobody annotated them). The error is the
share of labelled points in the wrong motion under the best matching of motions, for all of them and for the
ranked tracks alone, beside the least error among the candidates (ranked tracks; oracle) and the error
of the annotated tracks themselves, segmented by the same ranker. Markdown on standard output; contact
sheets and labels in OUT. A ranker that was trained on these sequences has seen their annotated tracks, not
the tracks that are made here.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from common.results import markdown_table

from annealed.app.output.motion_files import Input, write_results
from annealed.app.output.motion_overlay import TrackCanvas, save_overlays
from annealed.datasets.tracks.hopkins import read_hopkins
from annealed.datasets.tracks.video_tracks import track_video
from annealed.models import load_model
from annealed.models.motion import disagreement, segment

MAX_DISTANCE_PX = 5.0
HEADER = [
    "video",
    "K",
    "tracks",
    "ranked",
    "lost",
    "dropped",
    "compared",
    "error, all",
    "error, ranked",
    "oracle",
    "annotated tracks",
    "s tracking",
    "s segmenting",
]


def nearest_labels(tracks, truth):
    """Label each track by the nearest annotated point.

    Parameters
    ----------
    tracks : Tracks
        Of the video, y pointing down.
    truth : Tracks
        Annotated points with labels.

    Returns
    -------
    ndarray of shape (P,), int64
        -1 where no annotated point is near, or none is visible in the same frames.
    """
    first = max(tracks.frame_offset, truth.frame_offset)
    end = min(tracks.frame_offset + tracks.n_frames, truth.frame_offset + truth.n_frames)
    mine = tracks.positions[:, first - tracks.frame_offset : end - tracks.frame_offset]
    theirs = truth.image_positions()[:, first - truth.frame_offset : end - truth.frame_offset]
    labels = np.full(len(tracks), -1)
    for i, track in enumerate(mine):
        seen = np.isfinite(track[:, 0])
        if not seen.any():
            continue
        distance = np.linalg.norm(theirs[:, seen] - track[seen], axis=2).mean(axis=1)
        nearest = int(np.nanargmin(distance))
        if distance[nearest] <= MAX_DISTANCE_PX:
            labels[i] = truth.labels[nearest]
    return labels


def error_of(labels, truth, rows):
    """Share of the compared rows in the wrong motion; NaN if there are none."""
    rows = rows & (labels >= 0) & (truth >= 0)
    return disagreement(labels[rows], truth[rows]) if rows.any() else np.nan


def measure(video, annotation, ranker, out):
    """Track, segment and compare one video; return a row of the table."""
    truth = read_hopkins(annotation)
    start = time.perf_counter()
    found = track_video(video)
    tracked = time.perf_counter()
    tracks = found.tracks
    result = segment(tracks.positions, tracks.visible, truth.n_motions, ranker)
    segmented = time.perf_counter()
    labels = nearest_labels(tracks, truth)
    oracle = min(
        error_of(candidate.labels, labels[result.ranked], np.ones(result.ranked.sum(), dtype=bool))
        for candidate in result.ranking.candidates
    )
    annotated = ranker.rank(truth.positions, truth.n_motions).best.labels
    source = Input(video, tracks, video, found.n_lost, found.n_dropped)
    write_results(out, video.stem, source, result)
    save_overlays(TrackCanvas(tracks, video), result.labels, video=None, sheet=out / f"{video.stem}.png")
    errors = [
        error_of(result.labels, labels, np.ones(len(labels), dtype=bool)),
        error_of(result.labels, labels, result.ranked),
        oracle,
        disagreement(annotated, truth.labels),
    ]
    counts = [truth.n_motions, len(tracks), int(result.ranked.sum()), found.n_lost, found.n_dropped]
    seconds = [tracked - start, segmented - tracked]
    return [video.stem, *counts, int((labels >= 0).sum()), *errors, *seconds]


def text_of(row):
    """Return a row as text: errors in per cent, seconds with one digit."""
    return [
        row[0],
        *(str(value) for value in row[1:7]),
        *(f"{100 * value:.2f}" for value in row[7:11]),
        *(f"{value:.1f}" for value in row[11:]),
    ]


def main(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of Hopkins 155")
    parser.add_argument("--model", default="motions", help="ranker (default motions)")
    parser.add_argument(
        "--out", type=Path, default=Path("runs/videos"), help="folder for overlays and labels"
    )
    arguments = parser.parse_args(argv)
    ranker = load_model(arguments.model)
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for video in sorted(arguments.folder.glob("*/*.avi")):
        annotation = video.with_name(f"{video.stem}_truth.mat")
        if annotation.is_file():
            print(video.stem, file=sys.stderr)
            rows.append(measure(video, annotation, ranker, arguments.out))
    if not rows:
        sys.exit(f"{arguments.folder}: no <sequence>/<sequence>.avi with its _truth.mat below this folder")
    means = [float(np.nanmean([row[i] for row in rows])) for i in range(7, 13)]
    table = [text_of(row) for row in rows]
    average = ["mean", *[""] * 6, *(f"{100 * v:.2f}" for v in means[:4]), *(f"{v:.1f}" for v in means[4:])]
    print(markdown_table(HEADER, [*table, average]))


if __name__ == "__main__":
    main()
