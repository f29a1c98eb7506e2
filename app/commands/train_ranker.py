"""`annealed train-ranker`: learn to choose among segmentations from sequences with known motions."""

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import FeaturesOption, FormOption, OverwriteOption, PoolOption, SequenceFolder, SizeOption


def command(
    folder: SequenceFolder,
    out: Annotated[Path, typer.Option(help="Model file to write.")],
    pool: PoolOption = "paper",
    features: FeaturesOption = "all",
    form: FormOption = "relative",
    k: SizeOption = 40,
    overwrite: OverwriteOption = False,
) -> None:
    """Train a ranker of motion segmentations on all sequences of a folder.

    With --pool pairs --form range, as the ranker that ships: also on disturbed copies of the
    sequences, and to find the number of motions.

    Prints the selected features, strongest first, and the error of the chosen segmentations on the
    training sequences beside that of the best candidates; evaluate-ranker cross-validates.
    """
    import numpy as np

    from ...models.motion import MotionRanker
    from ..motion_training import train
    from ..places import check_new_file
    from ..progress import Bars, warn

    check_new_file(out, overwrite)
    ranker = MotionRanker(pool=pool, features=features, form=form, k=k)
    with Bars() as bars:
        described = train(ranker, folder, bars)
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
