"""
Your first detector
===================

A detector of one keypoint, trained on a few photos whose keypoints are known. The photos are
composed: an astronaut's head, turned, scaled and relit, on other pictures. With photos of your own
the same takes one command, ``annealed train-detector faces/ --keypoint left_eye_center --out
eye.safetensors``.
"""

# %%
# Annotated photos
# ----------------
# Photos and the places of their keypoints, as `read_annotations` gives them of any format.
import matplotlib.pyplot as plt
import numpy as np

from annealed.datasets.photos.sample_photos import make_sample_photos

training = make_sample_photos(12, shape=(240, 320))
test = make_sample_photos(3, split="test", shape=(240, 320))
print(len(training), "photos,", training.n_objects, "faces,", len(training.keypoint_names), "keypoints")

# %%
# Training
# --------
# Windows around the keypoint are told from windows elsewhere. The detector starts with some thousand
# features of a window, and annealing keeps 60 of them. Then all photos are scanned for what looks
# like the keypoint and is none, and the detector is trained anew on these hard negatives, too.
from annealed.models.keypoints.training.classifier_fitting import FitConfig
from annealed.models.keypoints.training.config import TrainingConfig
from annealed.models.keypoints.training.refinement_fitting import RefineConfig
from annealed.models.keypoints.training.trainer import train_detector

config = TrainingConfig(
    rounds=1,
    n_haar=1000,
    n_random=1500,
    n_hard=500,
    validation=0.2,
    fit=FitConfig(k=60, n_iter=100),
    refine=RefineConfig(k=60, n_iter=100),
)
columns = {"left_eye_center": training.keypoint_index("left_eye_center")}
result = train_detector(training.photos, columns, config)
classifier = result.detector.classifiers[0]
print(len(classifier.pool), "features are left, among them:")
for name in classifier.pool.names()[:3]:
    print("-", name)

# %%
# Detection
# ---------
# On photos that it has not seen. Rings are detections, crosses the truth.
column = columns["left_eye_center"]
figure, axes = plt.subplots(1, len(test), figsize=(11, 3), layout="constrained")
for axis, photo in zip(axes, test, strict=True):
    found = result.detector.detect(photo.read())
    axis.imshow(photo.read())
    axis.plot(found.x, found.y, "o", ms=14, mfc="none", mec="#ff3b30", mew=2)
    axis.plot(*photo.points[:, column].T, "+", ms=10, color="#00e65a")
    axis.set_axis_off()

# %%
# The scores are sums: every feature adds what a curve says for its value. Here are the strongest two.
tables = classifier.tables
strongest = np.argsort(-np.ptp(tables, axis=1))[:2]
figure, axes = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained", sharey=True)
for axis, j in zip(axes, strongest.tolist(), strict=True):
    low, high = classifier.model.responses.low[j], classifier.model.responses.high[j]
    axis.plot(np.linspace(low, high, 256), tables[j])
    axis.set_title(classifier.pool[[j]].names()[0], fontsize=8)
    axis.set_xlabel("value of the feature")
axes[0].set_ylabel("added to the score")
