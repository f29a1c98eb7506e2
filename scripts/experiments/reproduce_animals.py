"""Errors of detectors of animals by cross-validation over frames, beside the figures of GPU trackers.

    scripts/experiments/reproduce_animals.py [--data DIR] [--set openfield] [--preset quick] [--folds 5]
                                [--only 0,1] [--turns 0,90,180,270,37] [--upright] [--out DIR]

For each fold a detector is trained on the other frames and tried on the fold's: the error is the distance in
pixels of each annotated keypoint in the frame's best object, over all keypoints. Each test frame is also
turned (clockwise, in degrees) as a whole. --upright trains without any notion of angle. Prints Markdown;
OUT/animals-SET-PRESET.csv holds one row a fold, turn and keypoint, and what is there is not measured again.

Frames are shuffled once by seed 0 and dealt out to folds. Nothing is chosen on the test frames of any fold.
DeepLabCut's figures (pull request 1632 of its repository; 110 frames for training, 50,000 iterations on a
GPU, six test frames) are mean errors of ResNet-50, 2.7 to 3.0 px, and MobileNet, 3.0 to 3.8; two people 2.7.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common.results import Results, markdown_table, numbers

from annealed.app.commands.train_detector import PRESETS, LossName, Preset, make_config
from annealed.datasets.photos.annotation_formats import read_annotations
from annealed.datasets.photos.photo_set import with_sizes
from annealed.features.turning import Turn
from annealed.models.keypoints.angles import UPRIGHT
from annealed.models.keypoints.training.trainer import train_detector

DATA = Path("../shared/data/animals")
FAR_PX = 20.0
KEYS = ("fold", "turn", "frame", "keypoint")
VALUES = ("error", "training_seconds", "frame_seconds")


def folds_of(n_frames, n_folds):
    """Test frames of each fold."""
    order = np.random.default_rng(0).permutation(n_frames)
    return [np.sort(order[fold::n_folds]) for fold in range(n_folds)]


def train(photos, preset, upright):
    """A detector, and processor seconds."""
    started = time.process_time()
    config = make_config(Preset(preset), {}, LossName.lorenz, "20,40")
    config = replace(config, angles=UPRIGHT if upright else None)
    columns = {name: i for i, name in enumerate(photos.keypoint_names)}
    detector = train_detector(photos.photos, columns, config).detector
    return detector, time.process_time() - started


def errors_of(detector, photo, degrees):
    """Distance of each keypoint of the best object, infinite where there is none; processor seconds."""
    image = photo.read()
    turn = Turn(-degrees, image.shape[:2])
    seen = turn.apply(image) if degrees else image
    started = time.process_time()
    found = detector.detect_objects(seen, threshold=-1e9)
    seconds = time.process_time() - started
    truth = turn.to_turned(photo.points[0]) if degrees else photo.points[0]
    points = found.points[0] if len(found) else np.full(truth.shape, np.inf)
    return np.linalg.norm(points - truth, axis=1), seconds


def measure_fold(photos, fold, test, options):
    """Train on the other frames; rows of the errors on the fold's."""
    others = np.setdiff1d(np.arange(len(photos)), test)
    detector, spent = train(photos[others], options.preset, options.upright)
    rows = []
    for degrees in options.turns:
        for i in test.tolist():
            photo = photos.photos[i]
            errors, seconds = errors_of(detector, photo, degrees)
            for name, error in zip(photos.keypoint_names, errors, strict=True):
                if np.isnan(error):
                    continue  # not annotated
                rows.append(
                    {
                        "fold": fold,
                        "turn": f"{degrees:g}",
                        "frame": photo.name,
                        "keypoint": name,
                        "error": f"{error:.3f}",
                        "training_seconds": f"{spent:.0f}",
                        "frame_seconds": f"{seconds:.3f}",
                    }
                )
    return rows


def summary(rows, label):
    """One line of the table."""
    errors = numbers(rows, "error")
    return [
        label,
        f"{len({(row['fold'], row['frame']) for row in rows})}",
        f"{errors.mean():.2f}",
        f"{np.median(errors):.2f}",
        f"{np.mean(errors <= FAR_PX):.3f}",
        f"{np.median(numbers(rows, 'training_seconds')):.0f}",
        f"{np.median(numbers(rows, 'frame_seconds')):.2f}",
    ]


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--set", default="openfield")
    parser.add_argument("--preset", default="quick", choices=list(PRESETS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--turns", type=lambda text: [float(part) for part in text.split(",")], default=[0.0])
    parser.add_argument("--upright", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("runs/animals"))
    options = parser.parse_args(arguments)

    photos = with_sizes(read_annotations(options.data / options.set))
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"animals-{options.set}-{options.preset}" + ("-upright" if options.upright else "")
    results = Results(options.out / f"{name}.csv", KEYS, VALUES)
    for fold, test in enumerate(folds_of(len(photos), options.folds)):
        if (options.only is None or fold in options.only) and not results.select(fold=fold):
            for row in measure_fold(photos, fold, test, options):
                results.add(**row)
    header = ["", "frames", "mean px", "median px", f"within {FAR_PX:g} px", "training s", "a frame s"]
    turns = dict.fromkeys(row["turn"] for row in results.rows)
    lines = [summary(results.select(turn=turn), f"turned by {turn}") for turn in turns]
    lines += [
        summary(results.select(turn="0", keypoint=keypoint), keypoint) for keypoint in photos.keypoint_names
    ]
    print(markdown_table(header, lines))


if __name__ == "__main__":
    main()
