"""`annealed train-ranker`: learn to choose among segmentations from sequences with known motions."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    folder: Annotated[Path, typer.Argument(help="Folder of Hopkins 155: <sequence>/<sequence>_truth.mat.")],
    out: Annotated[Path, typer.Option(help="Model file to write.")],
    pool: Annotated[
        str, typer.Option(help="Candidates: 'paper' (velocity clustering) or 'large' (more generators).")
    ] = "paper",
    features: Annotated[str, typer.Option(help="'all', 'likelihood' or 'prior'.")] = "all",
    form: Annotated[
        str, typer.Option(help="Features 'relative' to the sequence's least value, or 'raw'.")
    ] = "relative",
    k: Annotated[int, typer.Option("-k", help="Features to select.")] = 40,
) -> None:
    """Train a ranker of motion segmentations on all sequences of a folder.

    Prints the selected features, strongest first, and the error of the chosen segmentations on the
    training sequences beside that of the best candidates; evaluate-ranker cross-validates.
    """
    import numpy as np

    from ..features.errors import DataError
    from ..models.motion import MotionRanker
    from .motion_training import describe_folder
    from .progress import Bars, warn

    if out.is_dir():
        raise DataError(f"{out}: is a folder; --out names the model file to write")
    if not out.parent.is_dir():
        raise DataError(f"{out.parent}: no such folder to write the model into")
    ranker = MotionRanker(pool=pool, features=features, form=form, k=k)
    with Bars() as bars:
        described = describe_folder(folder, pool, bars)
    ranker.fit_candidates([s.table for s in described], [s.errors for s in described])
    chosen = float(np.mean([s.errors[np.argmax(ranker.score(s.table))] for s in described]))
    oracle = float(np.mean([s.errors.min() for s in described]))
    ranker.save(
        out,
        {
            "sequences": len(described),
            "videos": len({s.video for s in described}),
            "training error": chosen,
            "error of the best candidates": oracle,
        },
    )
    for place, name in enumerate(ranker.selected_names, start=1):
        print(f"{place}\t{name}")
    print(f"training error {100 * chosen:.2f} %, of the best candidates {100 * oracle:.2f} %")
    warn(f"{out}: written")
