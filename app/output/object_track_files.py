"""Trajectories of a video's objects as files: tidy CSV, DeepLabCut's CSV and H5, COCO keypoints."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from ...models.keypoints.videos.object_tracks import SEEN, ObjectTracks

TIDY_COLUMNS = ("frame", "object", "keypoint", "x", "y", "likelihood", "filled")
SCORER = "annealed"
H5_KEY = "df_with_missing"
H5_NEEDS = "pip install 'annealed[deeplabcut]'"


def write_tidy(tracks: ObjectTracks, path: Path) -> None:
    """Write one line per frame, object and keypoint; what was not found and not filled in has none."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(TIDY_COLUMNS)
        known = np.isfinite(tracks.points).all(axis=3)
        for t, n, k in np.argwhere(known).tolist():
            x, y = tracks.points[t, n, k].tolist()
            writer.writerow(
                [
                    int(tracks.frames[t]),
                    n,
                    tracks.names[k],
                    f"{x:.3f}",
                    f"{y:.3f}",
                    f"{tracks.likelihood[t, n, k]:.4f}",
                    int(tracks.filled[t, n]),
                ]
            )


def _header(tracks: ObjectTracks, scorer: str) -> list[list[str]]:
    """Cells of DeepLabCut's header by column: scorer, individual if there are several, body part, coord."""
    several = tracks.n_objects > 1
    return [
        [scorer, *([f"object{n}"] if several else []), name, coord]
        for n in range(tracks.n_objects)
        for name in tracks.names
        for coord in ("x", "y", "likelihood")
    ]


def _row_names(tracks: ObjectTracks) -> list[str]:
    return ["scorer", *(["individuals"] if tracks.n_objects > 1 else []), "bodyparts", "coords"]


def _values(tracks: ObjectTracks) -> np.ndarray:
    """x, y and likelihood of every keypoint of every object, (n_frames, 3 * n_objects * n_keypoints)."""
    columns = np.concatenate([tracks.points, tracks.likelihood[..., None]], axis=3)
    return columns.reshape(len(tracks), -1)


def write_deeplabcut_csv(tracks: ObjectTracks, path: Path, scorer: str = SCORER) -> None:
    """Write trajectories as DeepLabCut writes those of a video; of several objects with "individuals"."""
    header = list(zip(*_header(tracks, scorer), strict=True))
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for name, cells in zip(_row_names(tracks), header, strict=True):
            writer.writerow([name, *cells])
        for frame, row in zip(tracks.frames.tolist(), _values(tracks).tolist(), strict=True):
            writer.writerow([frame, *("" if np.isnan(value) else f"{value:.4f}" for value in row)])


def write_deeplabcut_h5(tracks: ObjectTracks, path: Path, scorer: str = SCORER) -> None:
    """Write trajectories as DeepLabCut's H5.

    Raises
    ------
    DataError
        If pandas or PyTables is not installed.
    """
    try:
        import pandas as pd
        import tables  # noqa: F401 (pandas needs it)
    except ImportError:
        raise DataError(f"{path.name}: writing H5 takes pandas and PyTables: {H5_NEEDS}") from None
    columns = pd.MultiIndex.from_tuples(
        [tuple(cells) for cells in _header(tracks, scorer)], names=_row_names(tracks)
    )
    frame = pd.DataFrame(_values(tracks), columns=columns, index=tracks.frames)
    frame.to_hdf(path, key=H5_KEY, mode="w", format="table")


def write_coco(
    tracks: ObjectTracks,
    path: Path,
    *,
    video: str,
    shape: tuple[int, int],
    skeleton: list[list[int]] | None = None,
) -> None:
    """Write trajectories as COCO keypoints: an image a frame, an annotation an object with its `track_id`.

    Parameters
    ----------
    tracks : ObjectTracks
    path : Path
    video : str
        Frame 12 is the image `clip.mp4#12`.
    shape : (height, width)
        Of the frames.
    """
    height, width = shape
    images = [
        {"id": t + 1, "file_name": f"{video}#{frame}", "video": video, "frame": frame, "width": width,
         "height": height}
        for t, frame in enumerate(tracks.frames.tolist())
    ]  # fmt: skip
    category = {"id": 1, "name": "object", "keypoints": list(tracks.names), "skeleton": []}
    document = {
        "images": images,
        "annotations": list(_coco_annotations(tracks)),
        "categories": [category],
    }
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")


def _coco_annotations(tracks: ObjectTracks) -> Iterator[dict[str, Any]]:
    known = np.isfinite(tracks.points).all(axis=3)
    for number, (t, n) in enumerate(np.argwhere(known.any(axis=2)).tolist(), start=1):
        points, is_known = tracks.points[t, n], known[t, n]
        seen = tracks.likelihood[t, n] >= SEEN
        flat: list[float] = []
        for (x, y), here, is_seen in zip(points.tolist(), is_known.tolist(), seen.tolist(), strict=True):
            flat += [round(x, 2), round(y, 2), 2 if is_seen else 1] if here else [0, 0, 0]
        (x0, y0), (x1, y1) = points[is_known].min(axis=0).tolist(), points[is_known].max(axis=0).tolist()
        yield {
            "id": number,
            "image_id": t + 1,
            "category_id": 1,
            "track_id": n,
            "iscrowd": 0,
            "keypoints": flat,
            "num_keypoints": int(is_known.sum()),
            "bbox": [round(value, 2) for value in (x0, y0, x1 - x0, y1 - y0)],
            "area": round((x1 - x0) * (y1 - y0), 2),
            "score": None if np.isnan(tracks.scores[t, n]) else round(float(tracks.scores[t, n]), 4),
            "filled": bool(tracks.filled[t, n]),
        }
