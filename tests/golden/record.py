"""Usage: python tests/golden/record.py

Writes the results that `tests/test_golden.py` compares with, by the code that is installed, and says which
arrays differ from those that were there: only those may whose change is wanted. The model files of estimators
were written by version 0.1.0, before models became `models.additive`, and stay; `refitted` are the responses
of estimators fitted anew. With `--train` the detectors of the sample photos are trained anew, too.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from llvmlite import binding

sys.path.insert(0, str(Path(__file__).parent))
import problems

from annealed.models import load_model

FOLDER = Path(__file__).parent


def record_estimators(results):
    for name, (make, _) in problems.ESTIMATORS.items():
        X, Z, arguments = problems.table(name)
        estimator = make().fit(X, **arguments)
        results[f"{name}/response"] = problems.responses(load_model(FOLDER / f"{name}.safetensors"), Z)
        results[f"{name}/refitted"] = problems.responses(estimator, Z)
        results[f"{name}/support"] = np.flatnonzero(estimator.support_)


def report_differences(before, results):
    for name in sorted(before.keys() | results.keys()):
        if name not in before or name not in results:
            print(name, "is new" if name in results else "is gone")
        elif not np.array_equal(before[name], results[name]):
            print(name, "differs")


def record_detectors(results):
    for name, model, photo in problems.detections():
        for key, values in problems.columns(model.detect(photo)).items():
            results[f"{name}/{key}"] = values
        for key, values in problems.columns(model.detect(photo, raw=True)).items():
            results[f"{name}/raw/{key}"] = values


def train_detectors():
    """Detectors of single keypoints with refinement, and of an object with alignment."""
    from annealed.datasets.photos.photo_set import with_sizes
    from annealed.datasets.photos.sample_photos import KEYPOINT_NAMES, make_sample_photos
    from annealed.models.keypoints.training.classifier_fitting import FitConfig
    from annealed.models.keypoints.training.config import TrainingConfig
    from annealed.models.keypoints.training.refinement_fitting import RefineConfig
    from annealed.models.keypoints.training.trainer import train_detector

    photos = with_sizes(make_sample_photos(16, shape=(200, 220), max_faces=1)).photos
    for name, keypoints, refined in (
        ("keypoints", ("left_eye_center", "chin"), 10),
        ("object", ("left_eye_center", "right_eye_center", "chin"), 0),
    ):
        rule = TrainingConfig(
            rounds=1, n_hard=200, n_random=800, n_haar=150, validation=0.25,
            fit=replace(FitConfig(), k=25), refine=RefineConfig(k=refined),
        )  # fmt: skip
        columns = {keypoint: KEYPOINT_NAMES.index(keypoint) for keypoint in keypoints}
        train_detector(photos, columns, rule).detector.save(FOLDER / f"{name}.safetensors")


def record_rankings(results):
    for name, ranking in problems.rankings():
        results[f"{name}/scores"] = ranking.scores
        results[f"{name}/labels"] = np.stack([candidate.labels for candidate in ranking.candidates])


def main():
    results = {"processor": np.array(binding.get_host_cpu_name())}
    if "--train" in sys.argv:
        train_detectors()
    record_estimators(results)
    record_detectors(results)
    record_rankings(results)
    report_differences(dict(np.load(FOLDER / "results.npz")), results)
    np.savez_compressed(FOLDER / "results.npz", **results)


if __name__ == "__main__":
    main()
