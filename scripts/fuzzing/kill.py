"""A campaign of kills; see scripts/fuzz."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from commands import (
    COMMANDS,
    FROM_NOTHING,
    OUT,
    broken,
    empty,
    forked,
    import_all,
    is_repeatable,
    leftovers,
    outputs,
    prepare,
)

MOST_RUNS = 4  # a kill, of runs that end before their moment comes


def campaign(name: str, times: int, folder: Path, rng: np.random.Generator) -> list[str]:
    """Kill one command at random moments; return what was found.

    What was there before is whole after each kill. A command that does not write over what is there begins
    with nothing each time, and is run once more after the kill: a training with --resume.
    """
    out = folder / OUT
    empty(out)
    command = COMMANDS[name](folder, out)
    forked(command)  # kernels may have to be compiled
    if name in FROM_NOTHING:
        empty(out)
    begin = time.monotonic()
    status, text = forked(command)
    if status not in (0, 1) or (status == 1 and name != "check-annotations"):
        return [f"{name}: status {status}: {text[-300:]}"]
    took = time.monotonic() - begin
    wanted = {file: digest for file, digest in outputs(out).items() if is_repeatable(file)}
    n_files = len(outputs(out))
    findings: list[str] = []
    n_killed = n_resumed = n_runs = 0
    while n_killed < times and n_runs < MOST_RUNS * times:
        n_runs += 1
        if name in FROM_NOTHING:
            empty(out)
        killed = forked(command, float(rng.uniform(0, took)))[0] is None
        n_killed += killed
        findings += [f"{name}: broken by a kill: {what}" for what in broken(out)]
        if name not in FROM_NOTHING:
            findings += _differences(name, "after a kill", wanted, out)
        elif killed:
            begun = (out / "m.safetensors.run" / "config.json").exists()
            n_resumed += begun
            status, text = forked([*command, *(["--resume"] if begun else [])] if _to_do(out) else ["--help"])
            if status:
                findings.append(f"{name}: after a kill, status {status}: {text[-300:]}")
            findings += _differences(name, "gone on with", wanted, out)
    if name not in FROM_NOTHING:
        forked(command)
        findings += _differences(name, "once more", wanted, out)
    if left := leftovers(folder):
        findings.append(f"{name}: left {left}")
    print(
        f"{name}: killed {n_killed} of {n_runs} runs of {took:.1f} s, {n_resumed} resumed, "
        f"{n_files} files, {len(findings)} findings",
        *findings,
        sep="\n  ",
        flush=True,
    )
    return findings


def _to_do(out: Path) -> bool:
    """Whether the kill came before the results were there."""
    return not any((out / name).exists() for name in ("m.safetensors", "suggested"))


def _differences(name: str, when: str, wanted: dict[str, str], out: Path) -> list[str]:
    found = outputs(out)
    wrong = sorted(file for file, digest in wanted.items() if found.get(file) != digest)
    return [f"{name}: {when}, lost or other: {wrong}"] if wrong else []


def main() -> int:
    """Run the campaign; return 1 if there is a finding."""
    parser = argparse.ArgumentParser()
    parser.add_argument("commands", nargs="*", default=[])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    rng = np.random.default_rng(arguments.seed)
    import_all()
    findings: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / OUT).mkdir()
        prepare(folder)
        for name in arguments.commands or COMMANDS:
            findings += campaign(name, arguments.times, folder, rng)
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
