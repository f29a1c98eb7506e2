"""Run as a program: reads files that it is told of on stdin, within limits, and says what came of each.

A line of input is a kind and a path; a line of output is JSON: "read", "refused" with the one line, or "bug"
with what was raised. A file that ends the process, by a signal or by the clock, is found by the one who asks.
"""

import json
import os
import resource
import signal
import sys
import traceback
import warnings
from contextlib import suppress
from itertools import islice
from pathlib import Path

SECONDS = 30
MEMORY = 3 * 2**30


def read(kind: str, path: Path) -> None:
    """Read a file as a user of its kind would, and look at all that it gives."""
    group = kind.split("-")[0]
    if group == "probe":
        _read_past_the_end()
    elif group == "photo":
        from annealed.datasets.photos.images import read_image, read_image_size

        assert read_image_size(path) == read_image(path).shape[:2]
    elif group == "video":
        from annealed.datasets.videos import frame_rate, stated_length, video_frames

        assert stated_length(path) >= 0 <= frame_rate(path)
        for frame in islice(video_frames(path), 20):
            assert frame.ndim == 3
        _track(path)
    elif group == "table":
        _read_table(kind, path)
    elif group == "rows":
        _read_rows(next((folder for folder in path.parents if folder.suffix == ".zarr"), path))
    elif group == "tracks":
        from annealed.datasets.tracks.track_files import encode_csv, encode_napari, encode_npz
        from annealed.datasets.tracks.track_inputs import read_tracks

        tracks = read_tracks(path)
        encode_npz(tracks), encode_csv(tracks), encode_napari(tracks)
    elif group == "annotation":
        _read_annotation(path.parents[1] if kind.endswith("yolo-labels") else path)
    else:
        _use_model(path)


def _read_past_the_end() -> None:
    """What checks of bounds must find."""
    import numpy as np
    from numba import njit

    njit(lambda array, i: array[i])(np.zeros(3), 3)


def _track(path: Path) -> None:
    from annealed.datasets.tracks.video_tracks import track_video
    from annealed.features.errors import DataError

    with suppress(DataError):  # four frames of one colour show nothing to track
        track_video(path, n_points=20, n_frames=5)


def _read_rows(path: Path) -> None:
    """Read all of a table in blocks, some of its columns, its target, and fit a model to it."""
    import numpy as np

    from annealed import FSARegressor
    from annealed.datasets.rows import open_rows
    from annealed.features.errors import DataError

    rows = open_rows(path, ["y"] if path.suffix == ".parquet" else [])
    for _, block in rows.blocks(0, rows.n_rows, 16):
        assert block.shape[1] == rows.n_features
    assert rows.read(0, 1, np.array([rows.n_features - 1])).shape == (1, 1)
    with suppress(DataError):  # arrays have no named columns
        assert len(rows.column("y")) == rows.n_rows
    y = np.arange(rows.n_rows) % 7.0
    FSARegressor(1, n_iter=2, memory_budget=2**24).fit(rows, y)


def _read_annotation(path: Path) -> None:
    from annealed.datasets.photos.annotation_checks import check_annotations
    from annealed.datasets.photos.annotation_formats import encode_annotations, read_annotations

    photos = read_annotations(path)
    check_annotations(photos)
    for form in ("csv", "coco", "label-studio", "labelme", "yolo-pose", "opencv", "cvat"):
        encode_annotations(photos, form)


def _read_table(kind: str, path: Path) -> None:
    if kind.endswith(".idx"):
        from annealed.datasets.tables.idx import read_idx

        read_idx(path)
        return
    from annealed.datasets.tables.named_table import read_table

    table = read_table(path, ["y"]).table
    assert len(table.y) == table.X.shape[0]


def _use_model(path: Path) -> None:
    import numpy as np

    from annealed.models import load_model
    from annealed.models.motion.pools import names_of

    model = load_model(path)
    if hasattr(model, "detect"):
        rng = np.random.default_rng(1)
        picture = np.kron(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8), np.ones((8, 8, 1), np.uint8))
        model.detect(picture)
    elif hasattr(model, "rank_described"):
        table = np.random.default_rng(3).standard_normal((5, len(names_of(model.pool))))
        assert model.score(table).shape == (5,)
    else:
        model.predict(np.random.default_rng(2).standard_normal((4, model.n_features_in_)))


def answer(kind: str, path: Path) -> dict[str, str]:
    """Say what comes of a file."""
    from annealed.features.errors import AnnealedError

    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of the processor: the machine may be busy with others
    signal.alarm(6 * SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(kind, path)
        return {"result": "read"}
    except AnnealedError as error:
        text = str(error)
        return {"result": "refused", "text": text[:300]} if text else {"result": "bug", "text": "no message"}
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(last.filename)}:{last.lineno}"
        return {"result": "bug", "text": f"{type(error).__name__} at {where}: {str(error)[:200]}"}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def main() -> None:
    """Answer until there is no more input."""
    for line in sys.stdin:
        kind, path = line.rstrip("\n").split("\t")
        result = answer(kind, Path(path))
        result["megabytes"] = str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    for warm in ("keypoints", "object"):  # kernels are compiled, or loaded, before the limits
        _use_model(Path(__file__).parents[1] / "golden" / f"{warm}.safetensors")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    main()
