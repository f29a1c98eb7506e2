"""
A mouse in a video
==================

Three keypoints of a mouse that runs about, seen from above, followed through a clip. The mouse is
drawn; with a video of your own, ``annealed train-detector my-deeplabcut-project/ --out
mouse.safetensors`` and ``annealed detect-keypoints clip.mp4 --model mouse.safetensors --objects 1``
do the same.
"""

# %%
# A drawn mouse
# -------------
# A body, two ears and a tail on a floor with shavings. Nose, middle and tail base are its keypoints.
import cv2
import matplotlib.pyplot as plt
import numpy as np

from annealed.datasets.photos.photo_set import Photo

NAMES = "nose", "middle", "tail_base"
HEIGHT, WIDTH = 240, 320
rng = np.random.default_rng(0)
floor = cv2.GaussianBlur(rng.integers(90, 210, (HEIGHT, WIDTH, 3), dtype=np.uint8), (5, 5), 0)


def draw_mouse(x, y, degrees):
    """A picture with a mouse whose middle is at (x, y), and its keypoints."""
    turn = np.deg2rad(degrees)
    ahead, aside = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    middle = np.array([x, y])
    picture = floor.copy()

    def ellipse(place, axes, colour):
        centre = tuple(np.rint(place * 16).astype(int).tolist())
        size = tuple(int(16 * a) for a in axes)
        cv2.ellipse(picture, centre, size, degrees, 0, 360, colour, -1, cv2.LINE_AA, 4)

    tail = middle - 20 * ahead
    way = np.array([tail - 10 * s * ahead + 5 * np.sin(s) * aside for s in np.linspace(0, 3, 12)])
    cv2.polylines(picture, [np.rint(way).astype(np.int32)], False, (215, 160, 150), 2, cv2.LINE_AA)
    ellipse(middle, (21, 11), (70, 62, 58))
    ellipse(middle + 16 * ahead, (11, 8), (78, 70, 66))
    for side in (-1, 1):
        ellipse(middle + 15 * ahead + 7 * side * aside, (4.5, 4.5), (190, 140, 135))
    ellipse(middle + 26 * ahead, (2, 2), (230, 170, 165))
    return picture, np.stack([middle + 26 * ahead, middle, tail])


def photo_of(number, picture, points):
    """The picture as an annotated photo; the size of a mouse is its length from nose to tail."""
    return Photo(
        name=f"frame{number}",
        source=picture,
        object_names=("mouse",),
        points=points[None],
        visible=np.ones((1, 3), dtype=bool),
        sizes=np.array([46.0]),
        boxes=np.full((1, 4), np.nan),
    )


photos = []
for i in range(16):
    x, y, degrees = rng.uniform((60, 60, -25), (WIDTH - 60, HEIGHT - 60, 25))
    photos.append(photo_of(i, *draw_mouse(x, y, degrees)))
plt.figure(figsize=(4, 3), layout="constrained")
plt.imshow(photos[0].source)
plt.plot(*photos[0].points[0].T, "+", color="#00e65a", ms=10)
plt.axis("off")

# %%
# Training
# --------
# This mouse runs to the right, so windows stay upright. Objects that turn every way are found from
# the labels, and photos are scanned at several angles then.
from annealed.models.keypoints.training.alignment_fitting import AlignConfig
from annealed.models.keypoints.training.classifier_fitting import FitConfig
from annealed.models.keypoints.training.config import TrainingConfig
from annealed.models.keypoints.training.refinement_fitting import RefineConfig
from annealed.models.keypoints.training.trainer import train_detector

config = TrainingConfig(
    rounds=1,
    n_haar=800,
    n_random=1500,
    n_hard=500,
    validation=0.25,
    angles=(0.0,),
    fit=FitConfig(k=50, n_iter=100),
    refine=RefineConfig(k=50, n_iter=80),
    align=AlignConfig(k=0),
)
detector = train_detector(photos, {name: i for i, name in enumerate(NAMES)}, config).detector

# %%
# Following it
# ------------
# From frame to frame the mouse is looked for near its last place, and everywhere when it is lost.
from annealed.models.keypoints.videos.tracker import ObjectTracker

times = np.arange(30)
xs, ys = 60 + 6.5 * times, 120 + 40 * np.sin(times / 5)
frames = [draw_mouse(x, y, 15 * np.cos(t / 5)) for t, x, y in zip(times, xs, ys, strict=True)]
tracker = ObjectTracker(detector, 1)
for t, (picture, _) in enumerate(frames):
    tracker.step(picture, t)
tracks = tracker.tracks()
truth = np.stack([points for _, points in frames])
error = np.linalg.norm(tracks.points[:, 0] - truth, axis=2)
for k, name in enumerate(tracks.names):
    seen = np.isfinite(error[:, k])
    print(f"{name}: in {seen.sum()} of {len(frames)} frames, {np.median(error[seen, k]):.1f} pixels off")

# %%
plt.figure(figsize=(5, 3.6), layout="constrained")
plt.imshow(frames[-1][0])
for k, name in enumerate(tracks.names):
    plt.plot(*tracks.points[:, 0, k].T, lw=2, label=name)
plt.legend(loc="upper left", frameon=True)
plt.axis("off")
