"""
Motions in a clip
=================

Points are tracked through a video, segmented in many ways, and a ranker that was learned from
sequences with known motions chooses the best. ``annealed rank-segmentations clip.mp4`` does it from
the command line.
"""

# %%
# A clip with two motions
# -----------------------
# Rendered from pictures that come with scikit-image: a disc that turns and moves, before a background
# that pans.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from annealed.app.output.video_file import VideoFile
from annealed.datasets.tracks.sample_clip import make_sample_clip
from annealed.datasets.tracks.video_tracks import track_video

clip = make_sample_clip(16)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "clip.mp4"
    with VideoFile(path, 10) as video:
        for frame in clip.frames:
            video.write(frame)
    tracks = track_video(path, n_points=100).tracks
print(len(tracks), "points tracked through", tracks.n_frames, "frames")

# %%
# Segmentation
# ------------
# The number of motions is found, too. Tracks that fit no motion have the label -1.
from annealed import load_model
from annealed.models.motion import disagreement, segment

result = segment(tracks.positions, tracks.visible, None, load_model("motions"))
known = result.labels >= 0
wrong = disagreement(result.labels[known], clip.labels(tracks.positions, tracks.visible)[known])
print(len(set(result.labels[known].tolist())), "motions,", f"{100 * wrong:.0f} % of the tracks wrong")

# %%
# The scores of the best segmentation with each number of motions:
for n, score in result.ranking.number_scores.items():
    print(n, "motions:", round(float(score), 2))

# %%
figure, axes = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
for axis, f in zip(axes, (0, 8, 15), strict=True):
    axis.imshow(clip.frames[f])
    seen = tracks.visible[:, f]
    for label, colour in ((0, "#ff3b30"), (1, "#00c853"), (-1, "0.7")):
        some = seen & (result.labels == label)
        axis.plot(*tracks.positions[some, f].T, "o", ms=4, color=colour, mec="black", mew=0.5)
    axis.set_axis_off()
