"""A campaign of disks that are full; see scripts/fuzz.

Results lie on a file system of a few megabytes in memory where one can be mounted (as `unshare -rm` allows),
which is filled up to some kilobytes; and in files that may not be larger than some bytes. What was there
stays, and one line names what could not be written, and says what can be done.
"""

import argparse
import os
import resource
import subprocess
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
    leftovers,
    outputs,
    prepare,
)

SIZE = "24m"
PROGRAM = "annealed: "


def mounted(place: Path) -> bool:
    """Whether a small file system could be mounted."""
    return not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", place], stderr=subprocess.DEVNULL
    ).returncode


def fill(out: Path, n_free: int) -> Path:
    """Leave so many bytes of the file system of a folder."""
    state = os.statvfs(out)
    filler = out / ".filler"
    with open(filler, "wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, max(1, state.f_bavail * state.f_frsize - n_free))
    return filler


def limited(n_bytes: int) -> None:
    """Let this process write no file that is larger."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def campaign(name: str, times: int, folder: Path, *, small_disk: bool, rng: np.random.Generator) -> list[str]:
    """Run one command without room; return what was found."""
    out = folder / OUT
    empty(out)
    command = COMMANDS[name](folder, out)
    status, text = forked(command)
    if status not in (0, 1) or (status == 1 and name != "check-annotations"):
        return [f"{name}: status {status}: {text[-300:]}"]
    sizes = [file.stat().st_size for file in out.rglob("*") if file.is_file()]
    before = outputs(out)
    findings: list[str] = []
    n_refused = 0
    for i in range(times):
        if name in FROM_NOTHING:
            empty(out)
            before = {}
        if small_disk and i % 2 == 0:
            filler = fill(out, int(rng.integers(0, sum(sizes) * 9 // 10 + 1)))
            status, text = forked(command)
            filler.unlink()
        else:
            n_bytes = int(rng.integers(1, max(sizes)))
            status, text = forked(command, before=lambda n_bytes=n_bytes: limited(n_bytes))
        after = outputs(out)
        findings += [f"{name}: broken without room: {what}" for what in broken(out)]
        if status == 2:
            n_refused += 1
            lines = [line for line in text.splitlines() if line.startswith(PROGRAM)]
            if len(lines) != 1 or "cannot be written" not in lines[0] or "Traceback" in text:
                findings.append(f"{name}: said {text[-300:]!r}")
            if before and after != before:
                findings.append(f"{name}: changed {sorted(f for f in before if after.get(f) != before[f])}")
        elif status not in (0, 1) or "Traceback" in text:
            findings.append(f"{name}: status {status}: {text[-300:]!r}")
        if left := leftovers(out):
            findings.append(f"{name}: left {left}")
        before = after
    summary = f"{name}: {n_refused} of {times} refused, {len(findings)} findings"
    print(summary, *findings, sep="\n  ", flush=True)
    return findings


def main() -> int:
    """Run the campaign; return 1 if there is a finding."""
    parser = argparse.ArgumentParser()
    parser.add_argument("commands", nargs="*", default=[])
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    import_all()
    findings: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / OUT).mkdir()
        small_disk = mounted(folder / OUT)
        print(f"seed {arguments.seed}, " + (f"a disk of {SIZE}" if small_disk else "limits on files only"))
        prepare(folder)
        for name in arguments.commands or COMMANDS:
            findings += campaign(name, arguments.times, folder, small_disk=small_disk, rng=rng)
        if small_disk:
            subprocess.run(["umount", folder / OUT], check=True)
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
