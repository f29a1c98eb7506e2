"""Errors of detectors of animals by cross-validation over frames, beside the figures of GPU trackers.

    scripts/experiments/reproduce_animals.py [--data DIR] [--sets openfield,reaching] [--preset quick]
                            [--folds 5] [--only 0,1] [--turns 0,90,180,270,37] [--frames 20,40] [--upright]
                            [--video FILE] [--faces DIR] [--out DIR]

For each fold a detector is trained on the other frames and tried on the fold's: the error is the distance in
pixels of each annotated keypoint in the frame's best object, over all keypoints. A keypoint that some frames
do not show is also judged by how well its score tells whether it is there (average precision of its
presence). Expected errors: how often the truth lies within them. Each test frame is also turned (clockwise,
in degrees) as a whole. --frames: also trained on so many frames only, drawn by seed 0. --upright trains
without any notion of angle. --video: seconds a frame of a video in which the first fold's detector follows
one object. --faces: the shipped face model on annotated faces as they are, and turned by any angle with all
angles scanned: recall at 90 % precision. Prints Markdown; OUT holds the measurements, a row each, and what is
there is not measured again; OUT/frames.png plots errors by the number of frames.

Frames are shuffled once by seed 0 and dealt out to folds. Nothing is chosen on the test frames of any fold.
DeepLabCut's figures (pull request 1632 of its repository; 110 frames for training, 50,000 iterations on a
GPU, six test frames) are mean errors of ResNet-50, 2.7 to 3.0 px, and MobileNet, 3.0 to 3.8; two people 2.7.
"""

import argparse
import resource
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common.results import Results, markdown_table, numbers
from sklearn.metrics import average_precision_score

from annealed.app.commands.train_detector import PRESETS, LossName, Preset, make_config
from annealed.datasets.photos.annotation_formats import read_annotations
from annealed.datasets.photos.photo_set import with_sizes
from annealed.datasets.videos import video_frames
from annealed.features.turning import Turn
from annealed.models import load_model
from annealed.models.keypoints.angles import ALL_AROUND, UPRIGHT
from annealed.models.keypoints.evaluation import Criteria, observed, precision_recall
from annealed.models.keypoints.training.targets import keypoint_targets
from annealed.models.keypoints.training.trainer import train_detector
from annealed.models.keypoints.videos.tracker import ObjectTracker

DATA = Path("../shared/data/animals")
FAR_PX = 20.0
KEYS = ("set", "frames", "fold", "turn", "frame", "keypoint")
VALUES = ("error", "score", "expected", "training_seconds", "training_mb", "frame_seconds")
ALL_FRAMES = "all"


def folds_of(n_frames, n_folds):
    """Test frames of each fold."""
    order = np.random.default_rng(0).permutation(n_frames)
    return [np.sort(order[fold::n_folds]) for fold in range(n_folds)]


def train(photos, preset, upright):
    """A detector, processor seconds, and the most memory that the process has had so far, in MB."""
    started = time.process_time()
    config = make_config(Preset(preset), {}, LossName.lorenz, "20,40")
    config = replace(config, angles=UPRIGHT if upright else None)
    columns = {name: i for i, name in enumerate(photos.keypoint_names)}
    detector = train_detector(photos.photos, columns, config).detector
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return detector, time.process_time() - started, most


def look(detector, photo, degrees):
    """Error, score and expected error of each keypoint of the best object; processor seconds."""
    image = photo.read()
    turn = Turn(-degrees, image.shape[:2])
    seen = turn.apply(image) if degrees else image
    started = time.process_time()
    found = detector.detect_objects(seen, threshold=-1e9)
    seconds = time.process_time() - started
    truth = turn.to_turned(photo.points[0]) if degrees else photo.points[0]
    if not len(found):
        nothing = np.full(len(truth), np.inf)
        return (
            np.where(np.isfinite(truth[:, 0]), nothing, np.nan),
            -nothing,
            np.full(len(truth), np.nan),
            seconds,
        )
    return np.linalg.norm(found.points[0] - truth, axis=1), found.keypoint_scores[0], found.errors[0], seconds


def measure_fold(photos, test, options, turns, n_frames):
    """Train on the other frames, or some of them; the detector, and rows of what it finds on the fold's."""
    others = np.setdiff1d(np.arange(len(photos)), test)
    if n_frames != ALL_FRAMES:
        others = np.sort(np.random.default_rng(0).permutation(others)[:n_frames])
    detector, spent, most = train(photos[others], options.preset, options.upright)
    rows = []
    for degrees in turns:
        for i in test.tolist():
            photo = photos.photos[i]
            errors, scores, expected, seconds = look(detector, photo, degrees)
            judged = zip(photos.keypoint_names, errors, scores, expected, strict=True)
            for name, error, score, within in judged:
                rows.append(
                    {
                        "turn": f"{degrees:g}",
                        "frame": photo.name,
                        "keypoint": name,
                        "error": "" if np.isnan(error) else f"{error:.3f}",
                        "score": f"{score:.3f}",
                        "expected": "" if np.isnan(within) else f"{within:.3f}",
                        "training_seconds": f"{spent:.0f}",
                        "training_mb": f"{most:.0f}",
                        "frame_seconds": f"{seconds:.3f}",
                    }
                )
    return detector, rows


def presence(rows):
    """Average precision of the score as a sign that the keypoint is there; empty where it always is."""
    there = np.array([row["error"] != "" for row in rows])
    if there.all() or not there.any():
        return ""
    scores = np.nan_to_num(np.array([float(row["score"]) for row in rows]), neginf=-1e9)
    return f"{average_precision_score(there, scores):.2f}"


def covered(rows):
    """Share of the errors that lie within the expected ones."""
    known = [row for row in rows if row["expected"] != "" and row["error"] != ""]
    if not known:
        return ""
    return f"{np.mean(numbers(known, 'error') <= numbers(known, 'expected')):.2f}"


def summary(rows, label):
    """One line of the table."""
    errors = numbers(rows, "error")
    return [
        label,
        f"{len({(row['fold'], row['frame']) for row in rows})}",
        f"{errors.mean():.2f}",
        f"{np.median(errors):.2f}",
        f"{np.mean(errors <= FAR_PX):.3f}",
        covered(rows),
        presence(rows),
        f"{np.median(numbers(rows, 'training_seconds')):.0f}",
        f"{numbers(rows, 'training_mb').max():.0f}",
        f"{np.median(numbers(rows, 'frame_seconds')):.2f}",
    ]


HEADER = [
    "",
    "frames",
    "mean px",
    "median px",
    f"within {FAR_PX:g} px",
    "within expected",
    "presence AP",
    "training s",
    "MB",
    "a frame s",
]


def follow(detector, path, n_frames):
    """Seconds, of the wall and of the processor, of each frame in which one object is followed."""
    tracker = ObjectTracker(detector, 1)
    wall, spent = [], []
    for number, image in enumerate(video_frames(path)):
        if number == n_frames:
            break
        started = time.perf_counter(), time.process_time()
        tracker.step(image, number)
        wall.append(time.perf_counter() - started[0])
        spent.append(time.process_time() - started[1])
    return np.array(wall), np.array(spent), tracker.n_scans


def video_table(detector, path, n_frames):
    """How fast a video is, without its first frame, in which kernels are loaded and all is scanned."""
    wall, spent, n_scans = follow(detector, path, n_frames)
    row = [
        Path(path).name,
        f"{len(wall)}",
        f"{n_scans}",
        f"{wall[0]:.2f}",
        f"{1 / wall[1:].mean():.0f}",
        f"{1 / np.median(wall[1:]):.0f}",
        f"{spent[1:].mean():.3f}",
    ]
    header = [
        "video",
        "frames",
        "scans",
        "first frame s",
        "frames/s",
        "median frames/s",
        "processor s a frame",
    ]
    return markdown_table(header, [row])


def turned_photo(photo, degrees):
    """An annotated photo turned clockwise as a whole."""
    image = photo.read()
    turn = Turn(-degrees, image.shape[:2])

    def boxes(array):
        corners = turn.to_turned(array[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2))
        return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)

    return replace(
        photo,
        source=turn.apply(image),
        points=turn.to_turned(photo.points),
        boxes=boxes(photo.boxes),
        ignore=boxes(photo.ignore),
    )


def faces_table(folder):
    """Recall at 90 % precision of the shipped model on faces as they are, and turned by any angle."""
    model = load_model("face")
    photos = with_sizes(read_annotations(folder))
    degrees = np.random.default_rng(0).uniform(0, 360, len(photos))
    cases = {
        "as they are": (model, list(photos)),
        "as they are, all angles": (replace(model, angles=ALL_AROUND), list(photos)),
        "turned, all angles": (replace(model, angles=ALL_AROUND), list(map(turned_photo, photos, degrees))),
    }
    rows = []
    for label, (detector, shown) in cases.items():
        judged = {name: [] for name in detector.keypoint_names}
        for photo in shown:
            found = detector.detect(photo.read(), threshold=-2.0)
            for name, seen in judged.items():
                targets = keypoint_targets(photo, photos.keypoint_index(name))
                seen.append(observed(found, name, targets))
        curves = [precision_recall(seen, Criteria()) for seen in judged.values()]
        recalls = [curve.recall_at_precision(0.9) for curve in curves]
        rows.append([label, f"{np.mean(recalls):.3f}", *(f"{recall:.3f}" for recall in recalls)])
    return markdown_table(["faces", "mean", *model.keypoint_names], rows)


def measure(options):
    """Measure what is not there yet; all results, and the keypoints of each set. Detectors are saved."""
    results = Results(
        options.out / f"animals-{options.preset}{'-upright' * options.upright}.csv", KEYS, VALUES
    )
    names = {}
    for name in options.sets:
        photos = with_sizes(read_annotations(options.data / name))
        names[name] = photos.keypoint_names
        for fold, test in enumerate(folds_of(len(photos), options.folds)):
            if options.only is not None and fold not in options.only:
                continue
            for n_frames in (ALL_FRAMES, *options.frames):
                turns = options.turns if n_frames == ALL_FRAMES else [0.0]
                too_many = n_frames != ALL_FRAMES and n_frames >= len(photos) - len(test)
                if too_many or results.select(set=name, frames=n_frames, fold=fold):
                    continue
                detector, rows = measure_fold(photos, test, options, turns, n_frames)
                if n_frames == ALL_FRAMES:
                    detector.save(options.out / f"{name}-{fold}.safetensors")
                for row in rows:
                    results.add(set=name, frames=n_frames, fold=fold, **row)
    return results, names


def set_table(results, name, keypoints):
    """A table of one set: by turn, by keypoint, and by the number of frames."""
    whole = results.select(set=name, frames=ALL_FRAMES)
    turns = dict.fromkeys(row["turn"] for row in whole)
    lines = [summary([r for r in whole if r["turn"] == turn], f"turned by {turn}") for turn in turns]
    upright = [row for row in whole if row["turn"] == "0"]
    lines += [summary([r for r in upright if r["keypoint"] == k], k) for k in keypoints]
    for n_frames in dict.fromkeys(row["frames"] for row in results.select(set=name)):
        if n_frames != ALL_FRAMES:
            lines.append(summary(results.select(set=name, frames=n_frames), f"{n_frames} frames to train on"))
    return markdown_table(HEADER, lines)


def plot_frames(results, names, path):
    """Errors by the number of frames that were trained on."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
    for name in names:
        rows = [row for row in results.select(set=name) if row["turn"] == "0"]
        found = {}
        for n_frames in {row["frames"] for row in rows}:
            some = [row for row in rows if row["frames"] == n_frames]
            per_fold = len({row["frame"] for row in rows}) - len(
                {r["frame"] for r in some if r["fold"] == "0"}
            )
            found[per_fold if n_frames == ALL_FRAMES else int(n_frames)] = numbers(some, "error")
        counts = sorted(found)
        for label, function in (("mean", np.mean), ("median", np.median)):
            axes.plot(counts, [function(found[n]) for n in counts], "o-", label=f"{name}, {label}")
    axes.set(xlabel="frames to train on", ylabel="error [px]", ylim=(0, None))
    axes.legend()
    figure.savefig(path)
    plt.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def numbers_of(kind):
        return lambda text: [kind(part) for part in text.split(",")]

    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", type=numbers_of(str), default=["openfield"])
    parser.add_argument("--preset", default="quick", choices=list(PRESETS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", type=numbers_of(int))
    parser.add_argument("--turns", type=numbers_of(float), default=[0.0])
    parser.add_argument("--frames", type=numbers_of(int), default=[])
    parser.add_argument("--upright", action="store_true")
    parser.add_argument("--video", type=Path)
    parser.add_argument("--video-frames", type=int, default=1000)
    parser.add_argument("--faces", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/animals"))
    options = parser.parse_args(arguments)

    options.out.mkdir(parents=True, exist_ok=True)
    results, names = measure(options)
    for name, keypoints in names.items():
        print(f"\n{name}\n\n{set_table(results, name, keypoints)}")
    if options.frames:
        plot_frames(results, names, options.out / "frames.png")
    if options.video is not None:
        model = load_model(options.out / f"{options.sets[0]}-{(options.only or [0])[0]}.safetensors")
        print(f"\n{video_table(model, options.video, options.video_frames)}")
    if options.faces is not None:
        print(f"\n{faces_table(options.faces)}")


if __name__ == "__main__":
    main()
