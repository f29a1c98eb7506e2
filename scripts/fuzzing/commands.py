"""The commands that write: what they are given, what they leave, and runs of them that can be killed.

A run is a fork of this process, in which all of the program is imported already: what is killed is then its
work, not its start.
"""

import contextlib
import csv
import hashlib
import importlib
import json
import os
import pkgutil
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from safetensors import safe_open
from scipy.io import savemat

from annealed.app.cli import app
from annealed.app.output.annotation_files import write_annotations
from annealed.app.output.video_file import VideoFile
from annealed.datasets.photos.sample_photos import make_sample_photos
from annealed.datasets.videos import video_frames

PREFIX = ".annealed."
OUT = "out"
KEYPOINT = "left_eye_center"
TRAINING = (
    *("--keypoint", KEYPOINT, "--preset", "fast", "-k", "20", "--rounds", "2", "--hard", "100"),
    *("--random", "300", "--haar", "200", "--refine", "0", "--align", "0"),
)
POLL_S = 0.002


def import_all() -> None:
    """Import every module of the program."""
    for room in ("app", "datasets", "features", "models"):
        package = importlib.import_module(f"annealed.{room}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            _import_with_all_inside(module.name)


def _import_with_all_inside(name: str) -> None:
    if name.endswith((".__main__", ".app.annealed")):
        return
    module = importlib.import_module(name)
    for inside in pkgutil.iter_modules(getattr(module, "__path__", []), f"{name}."):
        _import_with_all_inside(inside.name)


def prepare(folder: Path) -> None:
    """Write annotated photos, a table, a video and tracks."""
    photos = make_sample_photos(8)
    (folder / "data" / "images").mkdir(parents=True)
    for photo in photos:
        Image.fromarray(photo.read()).save(folder / "data" / "images" / f"{photo.name}.png")
    write_annotations(photos, folder / "data", "csv")
    for file in (folder / "data").glob("*.csv"):
        rows = list(csv.reader(file.read_text().splitlines()))
        with open(file, "w", newline="") as stream:
            csv.writer(stream).writerows([rows[0], *([f"{row[0]}.png", *row[1:]] for row in rows[1:])])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30)).round(3)
    lines = [",".join(map(str, [*row, int(row[3] > 0)])) for row in X.tolist()]
    (folder / "table.csv").write_text("\n".join([",".join([*(f"x{j}" for j in range(30)), "y"]), *lines]))
    pixels = photos.photos[0].read()[:160, :160]
    with VideoFile(folder / "clip.mp4", 10) as video:
        for i in range(12):
            video.write(np.roll(pixels, 2 * i, axis=1))
    for name in ("arm", "cars1", "cars2"):
        _write_sequence(folder / "hopkins" / name, name, rng)


def _write_sequence(folder: Path, name: str, rng: np.random.Generator) -> None:
    """Two bodies that drift and turn, as a file of Hopkins 155."""
    folder.mkdir(parents=True)
    bodies = []
    for drift in ((5.0, 1.0), (-4.0, 2.0)):
        x, y, z = rng.normal(0, 30, (3, 10, 1))
        angle = 0.06 * np.arange(8)
        place = np.stack([x * np.cos(angle) - z * np.sin(angle), np.repeat(y, 8, axis=1)])
        bodies.append(place + np.multiply.outer(drift, np.arange(8))[:, None] + 150)
    places = np.concatenate(bodies, axis=1)
    y = np.concatenate([places + rng.normal(0, 0.3, places.shape), np.ones((1, 20, 8))])
    savemat(folder / f"{name}_truth.mat", {"y": y, "s": np.repeat([1, 2], 10)[:, None]})


def _convert(form: str, name: str) -> Callable[[Path, Path], list[str]]:
    return lambda f, out: ["convert", f"{f}/data", f"{out}/{name}", "--to", form, "--overwrite"]


COMMANDS: dict[str, Callable[[Path, Path], list[str]]] = {
    "convert-coco": _convert("coco", "people.json"),
    "convert-csv": _convert("csv", "csv"),
    "convert-deeplabcut": _convert("deeplabcut", "dlc"),
    "convert-label-studio": _convert("label-studio", "tasks.json"),
    "check-annotations": lambda f, out: [
        "check-annotations",
        f"{f}/data",
        "--out",
        f"{out}/page.html",
        "--overwrite",
    ],
    "select-features": lambda f, out: [
        *(
            "select-features",
            f"{f}/table.csv",
            "--target",
            "y",
            "-k",
            "3",
            "--out",
            f"{out}/selected",
            "--overwrite",
        )
    ],
    "compare-selectors": lambda f, out: [
        *("compare-selectors", f"{f}/table.csv", "--target", "y", "--methods", "fsa,f"),
        *("--folds", "2", "--out", f"{out}/scores.png", "--overwrite"),
    ],
    "detect-keypoints": lambda f, out: [
        "detect-keypoints",
        f"{f}/data/images",
        "--out",
        f"{out}/seen",
        "--overwrite",
    ],
    "detect-keypoints-video": lambda f, out: [
        *("detect-keypoints", f"{f}/clip.mp4", "--track", "--raw", "--out", f"{out}/tracked", "--overwrite")
    ],
    "evaluate-detector": lambda f, out: [
        "evaluate-detector",
        f"{f}/data",
        "--out",
        f"{out}/report",
        "--overwrite",
    ],
    "suggest-frames": lambda f, out: [
        *("suggest-frames", f"{f}/clip.mp4", "--raw", "-n", "3", "--out", f"{out}/suggested")
    ],
    "rank-segmentations": lambda f, out: [
        *("rank-segmentations", f"{f}/hopkins/arm/arm_truth.mat", "--motions", "2"),
        *("--model", "hopkins155", "--format", "csv,npz", "--out", f"{out}/motions", "--overwrite"),
    ],
    "train-ranker": lambda f, out: [
        *("train-ranker", f"{f}/hopkins", "-k", "5", "--out", f"{out}/ranker.safetensors", "--overwrite")
    ],
    "train-detector": lambda f, out: [
        *("train-detector", f"{f}/data", "--out", f"{out}/m.safetensors", *TRAINING)
    ],
    "demo": lambda f, out: ["demo", "--out", f"{out}/demo", "--overwrite"],
}
FROM_NOTHING = {"suggest-frames", "train-detector"}
"""Commands that do not write over what is there: each run begins without it."""


def forked(arguments: Sequence[str], seconds: float | None = None, before: Callable[[], object] = int):
    """Run a command in a fork of this process.

    Parameters
    ----------
    arguments : sequence of str
    seconds : float, optional
        It is killed then.
    before : callable
        What the fork does first, such as setting itself a limit.

    Returns
    -------
    status : int or None
        None if it was killed.
    text : str
        What it wrote on stderr.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _run_here(arguments, writing, before)
    os.close(writing)
    end = time.monotonic() + (3600 if seconds is None else seconds)
    text, status = b"", None
    os.set_blocking(reading, False)
    while status is None:
        with contextlib.suppress(BlockingIOError):
            text += os.read(reading, 1 << 16)
        done, code = os.waitpid(pid, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(code)
        elif time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            break
        time.sleep(POLL_S)
    with contextlib.suppress(BlockingIOError):
        while piece := os.read(reading, 1 << 16):
            text += piece
    os.close(reading)
    return status, text.decode("utf-8", "replace")


def _run_here(arguments: Sequence[str], stderr: int, before: Callable[[], object]) -> None:
    """What the fork does; it does not come back."""
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(stderr, 2)
        before()
        app(list(arguments), prog_name="annealed")
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(status)


def outputs(out: Path) -> dict[str, str]:
    """Digests of what was written, without what is being written."""
    return {
        str(inside): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(out.rglob("*"))
        if (inside := file.relative_to(out)) and file.is_file() and not _is_hidden(inside)
    }


def _is_hidden(inside: Path) -> bool:
    return any(part.startswith(".") for part in inside.parts)


def is_repeatable(file: str) -> bool:
    """Whether a file is the same in every run; pages, plots and the records of rounds hold times."""
    return not file.endswith((".html", ".png", ".mp4", ".h5")) and ".run/" not in file


def broken(out: Path) -> list[str]:
    """Files that are not whole, by what each kind must be."""
    found = []
    for file in sorted(out.rglob("*")):
        if file.is_file() and not _is_hidden(file.relative_to(out)):
            try:
                _look_at(file)
            except Exception as error:
                found.append(f"{file.relative_to(out)}: {error!r}"[:200])
    return found


def _look_at(file: Path) -> None:
    ending = file.suffix
    if ending == ".png":
        with Image.open(file) as picture:
            picture.load()
    elif ending == ".html":
        assert file.read_text().rstrip().endswith("</html>")
    elif ending == ".json":
        json.loads(file.read_text())
    elif ending == ".csv":
        assert file.read_bytes().endswith(b"\n")
    elif ending == ".mp4":
        assert sum(1 for _ in video_frames(file)) == 12
    elif ending == ".h5":
        import h5py

        h5py.File(file).close()
    elif ending == ".npz":
        dict(np.load(file))
    elif ending == ".safetensors":
        with safe_open(file, framework="numpy") as stream:
            [stream.get_tensor(name) for name in stream.keys()]  # noqa: SIM118 (not a dict)


def leftovers(folder: Path) -> list[str]:
    """Hidden folders that killed processes left; those of the last minute without a lock may be in use."""
    return [path.name for path in folder.rglob(f"{PREFIX}*") if (path / "lock").exists()]


def empty(folder: Path) -> None:
    """Remove what is in a folder."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
