"""A ranker trained on Hopkins 155 on sequences it was not made for: Hopkins 12 and MTPV.

    scripts/experiments/transfer_motion.py [--data DIR] [--ranker hopkins155]

Prints misclassification in percent of the segmentation that ranks first, beside the best candidate, the best
fixed d (chosen with the answers known), the least squared distance and a random candidate. Only tracks that
are visible in every frame and are no outliers take part; a sequence with fewer than two motions among these
is passed over. Nothing was chosen by looking at these sequences.
"""

import argparse
from pathlib import Path

import numpy as np
from common.results import markdown_table

from annealed.datasets.tracks.multiview import read_multiview
from annealed.models import load_model
from annealed.models.motion.experiment import baselines, describe

DATA = Path("../shared/data/hopkins155/extra")
SETS = {"Hopkins 12": "hopkins12", "MTPV": "mtpv12"}


def described_sequences(folder: Path, pool: str) -> list:
    """Describe the sequences of a folder."""
    described = []
    for path in sorted(folder.glob("*.mat")):
        tracks = read_multiview(path)
        given = np.asarray(tracks.labels)
        used = tracks.complete & (given >= 0)
        motions, labels = np.unique(given[used], return_inverse=True)
        if len(motions) < 2:
            print(f"{tracks.name}: passed over, {used.sum()} complete tracks of {len(motions)} motion")
            continue
        described.append(
            describe(tracks.positions[used], labels, name=tracks.name, video=tracks.name, pool=pool)
        )
    return described


def main() -> None:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--ranker", default="hopkins155")
    options = parser.parse_args()
    ranker = load_model(options.ranker)
    for title, folder in SETS.items():
        described = described_sequences(options.data / folder, ranker.pool)
        chosen = np.array([s.errors[np.argmax(ranker.score(s.table))] for s in described])
        choices = {"ranker": chosen, **baselines(described)}
        rows = [
            [s.name, *(f"{100 * errors[i]:.2f}" for errors in choices.values())]
            for i, s in enumerate(described)
        ]
        rows.append(["mean", *(f"{100 * errors.mean():.2f}" for errors in choices.values())])
        print(f"\n{title}\n")
        print(markdown_table(["sequence", *choices], rows))


if __name__ == "__main__":
    main()
