"""A campaign of kills; see scripts/fuzz."""

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from annealed.app.output.annotation_files import write_annotations
from annealed.datasets.photos.sample_photos import make_sample_photos

PREFIX = ".annealed."
TRAIN = {
    "--preset": "fast",
    "-k": "20",
    "--rounds": "2",
    "--hard": "200",
    "--random": "500",
    "--haar": "300",
    "--refine": "0",
    "--align": "0",
}


def prepare(folder: Path) -> None:
    """Write annotated photos, a table and a video."""
    photos = make_sample_photos(8)
    (folder / "data" / "images").mkdir(parents=True)
    for photo in photos:
        Image.fromarray(photo.read()).save(folder / "data" / "images" / f"{photo.name}.png")
    write_annotations(photos, folder / "data", "csv")
    for file in (folder / "data").glob("*.csv"):
        text = file.read_text()
        for photo in photos:
            text = text.replace(photo.name + ",", photo.name + ".png,").replace(
                photo.name + "\r", photo.name + ".png\r"
            )
        file.write_text(text)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30)).round(3)
    rows = [",".join(map(str, [*row, int(row[3] > 0)])) for row in X.tolist()]
    (folder / "table.csv").write_text("\n".join([",".join([*(f"x{j}" for j in range(30)), "y"]), *rows]))


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "convert-coco": lambda f: ["convert", f"{f}/data", f"{f}/out.json", "--to", "coco", "--force"],
    "convert-csv": lambda f: ["convert", f"{f}/data", f"{f}/out", "--to", "csv", "--force"],
    "select-features": lambda f: [
        "select-features",
        f"{f}/table.csv",
        "--target",
        "y",
        "-k",
        "3",
        "--out",
        f"{f}/sel",
    ],
    "detect-keypoints": lambda f: ["detect-keypoints", f"{f}/data/images", "--out", f"{f}/det"],
    "train-detector": lambda f: [
        *("train-detector", f"{f}/data", "--keypoint", "left_eye_center", "--out", f"{f}/m.safetensors"),
        *(part for option in TRAIN.items() for part in option),
    ],
}


def outputs(folder: Path) -> dict[str, str]:
    """Digests of all files that are not inputs, without those that are being written."""
    found = {}
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        hidden = any(part.startswith(".") for part in inside.parts)
        if file.is_file() and inside.parts[0] not in ("data", "table.csv") and not hidden:
            found[str(inside)] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def is_result(file: str) -> bool:
    """Whether a file must be the same in every run; pages, logs and the records of rounds hold times."""
    return not file.endswith((".html", ".png")) and ".run/" not in file


def forget_rounds(folder: Path) -> None:
    """Leave a run that has work to do."""
    for file in folder.glob("m.safetensors.run/round-0[12].safetensors"):
        file.unlink()


def leftovers(folder: Path) -> list[Path]:
    """Hidden folders that a killed process left."""
    return [path for path in folder.rglob(f"{PREFIX}*") if path.is_dir()]


def run(arguments: list[str], seconds: float | None = None) -> int | None:
    """Run a command, killed after some seconds; return its status, None if it was killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "annealed.app", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def campaign(name: str, times: int, rng: np.random.Generator) -> list[str]:
    """Kill one command at random moments; return what was found."""
    findings = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder)
        command = COMMANDS[name](folder)
        begin = time.monotonic()
        if run(command) != 0:
            return [f"{name}: does not run"]
        took = time.monotonic() - begin
        whole = outputs(folder)
        models = {file: digest for file, digest in whole.items() if is_result(file)}
        n_killed = 0
        resume = ["--resume"] if name == "train-detector" else []
        for _ in range(times):
            if resume:
                forget_rounds(folder)
            killed = run([*command, *resume], float(rng.uniform(0, took)))
            n_killed += killed is None
            after = outputs(folder)
            missing = set(models) - set(after)
            changed = {file for file in models if after.get(file, models[file]) != models[file]}
            if missing or changed:
                findings.append(f"{name}: lost {sorted(missing)}, other {sorted(changed)}")
        run([*command, *resume])
        after = outputs(folder)
        if changed := sorted(file for file in models if after.get(file) != models[file]):
            findings.append(f"{name}: a run after the kills gives other {changed}")
        if left := leftovers(folder):
            findings.append(f"{name}: left {left}")
        print(
            f"{name}: killed {n_killed} of {times} runs of {took:.1f} s, {len(findings)} findings", flush=True
        )
    return findings


def main() -> int:
    """Run the campaign; return 1 if there is a finding."""
    parser = argparse.ArgumentParser()
    parser.add_argument("commands", nargs="*", default=sorted(COMMANDS))
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    rng = np.random.default_rng(arguments.seed)
    findings = [
        f for name in arguments.commands or sorted(COMMANDS) for f in campaign(name, arguments.times, rng)
    ]
    print("\n".join(findings))
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
