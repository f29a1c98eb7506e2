"""Usage: python tests/golden/record.py

Writes the model files and results that `tests/test_golden.py` compares with, by the code that is installed.
Those in the repository were written by version 0.1.0, before models became `models.additive`; running this
again replaces them, which is right only where a change of behaviour is wanted.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from llvmlite import binding

sys.path.insert(0, str(Path(__file__).parent))
import problems

FOLDER = Path(__file__).parent


def record_estimators(results):
    for name, (make, _) in problems.ESTIMATORS.items():
        X, Z, arguments = problems.table(name)
        estimator = make().fit(X, **arguments)
        problems.save(estimator, FOLDER / f"{name}.safetensors")
        results[f"{name}/response"] = problems.responses(estimator, Z)
        results[f"{name}/support"] = np.flatnonzero(estimator.support_)


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
    np.savez_compressed(FOLDER / "results.npz", **results)


if __name__ == "__main__":
    main()
