"""Figure 7: one keypoint's detectors by different learners on the same mined examples, and the face step.

    annealed train-detector ../shared/data/faces/helen-300w-train --keypoint NAMES --out face.safetensors
    python scripts/experiments/reproduce_keypoints.py face.safetensors [--keypoint left_eye_center]
        [--tests afw-300w,helen-300w-scenes] [--methods fsa-lorenz,...] [--haar 8000] [--examples 40000]
        [--out runs/keypoints]

Reads the examples, positives and mined negatives, of the run that made the model (`face.safetensors.run`),
fits every learner to the same of them, with as many features as the model's, and evaluates on photos that
played no part in training or in any choice: found within 5 % of the eye distance, false beyond 10 % (section
3.3). All learners share cascade calibration, non-maximum suppression and, with `--refined`, the model's
regression of offsets. "FSA-Lor Face" is the model itself with its top-down step.

    fsa-lorenz, fsa-logistic, fsa-svm   annealing with losses (8), (6) and (7)
    logitboost                          LogitBoost, piecewise constant, 10 % of the learners a round
    svm-pl-hog                          piecewise linear SVM on all 864 HOG features, nothing selected

Prints a Markdown table with average precision, recall at 90 % precision and training seconds, writes
figure7.png and figure7.csv to OUT.
"""

import argparse
import csv
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common.results import markdown_table
from matplotlib.figure import Figure

from annealed.datasets.photos.annotation_formats import read_annotations
from annealed.datasets.photos.photo_set import with_sizes
from annealed.features.channels.hog import HOG
from annealed.features.codes import N_CODES
from annealed.features.pool import WindowPool
from annealed.models import LogitBoost, load_model
from annealed.models.boosting.thresholds import threshold_codes
from annealed.models.keypoints import FitConfig, keypoint_targets, observed, precision_recall
from annealed.models.keypoints.keypoint_classifier import KeypointClassifier
from annealed.models.keypoints.training.checkpoints import RunFolder
from annealed.models.keypoints.training.classifier_fitting import TrainingSet, fit_classifier, with_cascade
from annealed.models.keypoints.training.config import training_pool
from annealed.models.keypoints.training.mining import join_examples
from annealed.models.keypoints.training.phases import Phases
from annealed.models.keypoints.window_model import WindowModel

DATA = Path("../shared/data/faces")
LOSSES = {"fsa-lorenz": "lorenz", "fsa-logistic": "logistic", "fsa-svm": "huber"}
METHODS = (*LOSSES, "logitboost", "svm-pl-hog")
FACE = "FSA-Lor Face"
LOWEST = -1.0
LOWEST_FACE = -4.0


def training_set(model, keypoint):
    """All examples of one keypoint of the run that made a model."""
    names = load_model(model).keypoint_names
    if keypoint not in names:
        raise SystemExit(f"the model finds {', '.join(names)}, not {keypoint}")
    k = names.index(keypoint)
    rounds = RunFolder(f"{model}.run").read_rounds()
    if not rounds:
        raise SystemExit(f"{model}.run: holds no rounds; the run folder of the model is needed")
    return TrainingSet(
        positives=join_examples([r.positives[k] for r in rounds]),
        negatives=join_examples([r.negatives[k] for r in rounds]),
        n_random=len(rounds[0].negatives[k]),
        held_out=join_examples([r.held_out[k] for r in rounds]),
    )


def thinned(examples, most):
    """At most so many examples: all positives, and as many negatives at random as there is room for."""
    if most is None:
        return examples
    room = most - len(examples.positives)
    if room < 1:
        raise SystemExit(f"--examples is {most}; there are {len(examples.positives)} positives alone")
    if room >= len(examples.negatives):
        return examples
    drawn = np.sort(np.random.default_rng(0).permutation(len(examples.negatives))[:room])
    n_random = int(np.sum(drawn < examples.n_random))
    return replace(examples, negatives=examples.negatives[drawn], n_random=n_random)


def fit(method, keypoint, pool, examples, k):
    """Return the classifier of a method, and its training seconds."""
    started = time.perf_counter()
    if method == "logitboost":
        classifier = fit_boosted(keypoint, pool, examples, k)
    else:
        rule = FitConfig(k=k, loss=LOSSES.get(method, "huber"))
        if method == "svm-pl-hog":
            pool = WindowPool.default()
            pool = pool[pool.belongs_to(HOG)]
            rule = replace(rule, k=len(pool))
        classifier, _ = fit_classifier(keypoint, pool, examples, rule, 0, LOWEST, Phases())
    return classifier, time.perf_counter() - started


def fit_boosted(keypoint, pool, examples, k):
    """LogitBoost on the features' codes, as a classifier with a knot at every code."""
    patches = np.concatenate([examples.positives.patches, examples.negatives.patches])
    labels = np.arange(len(patches)) < len(examples.positives)
    low, high = pool.ranges(patches)
    weight = np.where(labels, 1 / labels.sum(), 1 / (~labels).sum())
    boost = LogitBoost(n_rounds=k, learner="constant", n_bins=10, learner_fraction=0.1, random_state=0).fit(
        pool.codes(patches, low, high).T.astype(np.float32), labels, sample_weight=weight
    )
    used = np.flatnonzero(boost.support_)
    every_code = np.repeat(np.arange(N_CODES, dtype=np.float32)[:, None], len(used), axis=1)
    bins = threshold_codes(every_code, boost.thresholds_)
    values = np.stack([r[b] for r, b in zip(boost.responses_[0], bins, strict=True)])[None]
    model = WindowModel.of_arrays(pool[used], low[used], high[used], values, np.zeros(1))
    return with_cascade(
        KeypointClassifier.without_cascade(keypoint, model), examples, LOWEST, FitConfig().cascade_loss
    )


def evaluate(detectors, folder, keypoint):
    """Curve of each detector on the photos of a folder; `detectors` maps names to functions of a photo."""
    photos = with_sizes(read_annotations(folder))
    column = photos.keypoint_index(keypoint)
    judged = {name: [] for name in detectors}
    for photo in photos:
        targets, image = keypoint_targets(photo, column), photo.read()
        for name, detect in detectors.items():
            judged[name].append(observed(detect(image), keypoint, targets))
    return {name: precision_recall(seen) for name, seen in judged.items()}


def draw(curves, path):
    """Figure 7: precision against recall, a panel for each set of photos."""
    figure = Figure(figsize=(6 * len(curves), 4.5), layout="constrained")
    panels = figure.subplots(1, len(curves), squeeze=False)[0]
    for axes, (title, by_name) in zip(panels, curves.items(), strict=True):
        for name, curve in by_name.items():
            axes.plot(curve.recall, curve.precision, label=name)
        axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02), title=title)
        axes.legend()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="model file with its run folder beside it")
    parser.add_argument("--keypoint", default="left_eye_center")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the test sets")
    parser.add_argument("--tests", default="afw-300w,helen-300w-scenes")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument(
        "--haar", type=int, help="Haar features to choose from, drawn at random (default: all)"
    )
    parser.add_argument(
        "--examples",
        type=int,
        help="examples to learn from, negatives drawn at random (default: all); LogitBoost needs 6 bytes for "
        "each and feature",
    )
    parser.add_argument(
        "--refined", action="store_true", help="refine all detections by the model's regression"
    )
    parser.add_argument("--out", type=Path, default=Path("runs/keypoints"))
    options = parser.parse_args()
    methods = options.methods.split(",")
    if unknown := sorted(set(methods) - set(METHODS)):
        parser.error(f"unknown methods {', '.join(unknown)}; there are {', '.join(METHODS)}")
    options.out.mkdir(parents=True, exist_ok=True)

    examples = thinned(training_set(options.model, options.keypoint), options.examples)
    model = load_model(options.model)
    if options.refined and not model.refiners:
        parser.error(f"{options.model} has no regression of offsets to refine by")
    which = model.keypoint_names.index(options.keypoint)
    k, pool = len(model.classifiers[which].pool), training_pool(options.haar, 0)
    n_positives, n_negatives = len(examples.positives), len(examples.negatives)
    print(f"{n_positives} positives, {n_negatives} negatives, {len(pool)} features, k = {k}")
    detectors, seconds = {}, {}
    for method in methods:
        classifier, seconds[method] = fit(method, options.keypoint, pool, examples, k)
        refiners = model.refiners[which : which + 1] if options.refined else ()
        single = replace(model, classifiers=(classifier,), refiners=refiners, object_model=None)
        detectors[method] = lambda image, single=single: single.detect(image, threshold=LOWEST)
        print(f"{method}: {seconds[method]:.0f} s", flush=True)
    if model.object_model is not None:
        detectors[FACE] = lambda image: model.detect(image, threshold=LOWEST_FACE)
    curves = {
        name: evaluate(detectors, options.data / name, options.keypoint) for name in options.tests.split(",")
    }
    report(curves, seconds, options.out)


def report(curves, seconds, out):
    """Print the table; write the curves and their picture."""
    columns = ["method", "training, s"]
    for name in curves:
        columns += [f"{name}: average precision", "recall at precision 0.9"]
    rows = []
    for method in next(iter(curves.values())):
        figures = [
            text
            for by_name in curves.values()
            for text in (
                f"{by_name[method].average_precision:.3f}",
                f"{by_name[method].recall_at_precision(0.9):.3f}",
            )
        ]
        rows.append([method, f"{seconds[method]:.0f}" if method in seconds else "-", *figures])
    print(markdown_table(columns, rows))
    with open(out / "figure7.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["photos", "method", "threshold", "recall", "precision"])
        for name, by_name in curves.items():
            for method, curve in by_name.items():
                for row in zip(curve.threshold, curve.recall, curve.precision, strict=True):
                    writer.writerow([name, method, *(f"{value:.6g}" for value in row)])
    draw(curves, out / "figure7.png")


if __name__ == "__main__":
    main()
