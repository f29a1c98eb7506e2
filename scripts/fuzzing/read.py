"""A campaign of tampered files; see scripts/fuzz."""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "fuzz"))
from cases import mutated, write_kinds
from child import Child


def drawn(rng: np.random.Generator) -> list[tuple[int, int, int]]:
    """One to six operations on a file's bytes."""
    n = int(rng.integers(1, 7))
    return [(int(a), int(b), int(c)) for a, b, c in rng.integers(0, (8, 2**20, 2**12), (n, 3))]


def main() -> int:
    """Run the campaign; return 1 if there is a finding."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print(f"seed {arguments.seed}")
    results: Counter[str] = Counter()
    findings: dict[str, str] = {}
    reader = Child()
    with tempfile.TemporaryDirectory() as folder:
        files = {
            k: p for k, p in write_kinds(Path(folder)).items() if not arguments.kinds or k in arguments.kinds
        }
        sound = {kind: path.read_bytes() for kind, path in files.items()}
        end = time.monotonic() + 60 * arguments.minutes
        while time.monotonic() < end:
            kind = sorted(files)[int(rng.integers(len(files)))]
            operations = drawn(rng)
            files[kind].write_bytes(mutated(sound[kind], operations))
            result = reader.ask(kind, files[kind])
            files[kind].write_bytes(sound[kind])
            results[result["result"]] += 1
            if result["result"] == "bug" and f"{kind}: {result['text'][:60]}" not in findings:
                findings[f"{kind}: {result['text'][:60]}"] = f"({kind!r}, {operations}),  # {result['text']}"
                print(findings[f"{kind}: {result['text'][:60]}"], flush=True)
    reader.close()
    print(
        f"{sum(results.values())} cases: " + ", ".join(f"{n} {name}" for name, n in sorted(results.items()))
    )
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
