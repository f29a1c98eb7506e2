"""What training and evaluating a ranker of segmentations share: labelled sequences, described."""

from pathlib import Path
from typing import TYPE_CHECKING

from .progress import Bars, warn

if TYPE_CHECKING:
    from ..models.motion.experiment import Described


def describe_folder(folder: Path, pool: str, bars: Bars) -> list["Described"]:
    """Read, segment and describe the Hopkins 155 sequences of a folder.

    A sequence that cannot be used is reported in one line and left out.

    Raises
    ------
    DataError
        If there is no folder, no sequence in it, or none that can be used.
    """
    from ..datasets.tracks.hopkins import category_of, load_hopkins155, video_of
    from ..features.errors import AnnealedError, DataError
    from ..models.motion.candidates import check_pool
    from ..models.motion.experiment import describe

    check_pool(pool)
    sequences = load_hopkins155(folder, on_problem=warn)
    described = []
    for done, tracks in enumerate(sequences):
        bars.update("sequences", done, len(sequences))
        labels = tracks.labels
        assert labels is not None, "the reader refuses files without labels"
        try:
            described.append(
                describe(
                    tracks.positions,
                    labels,
                    name=tracks.name,
                    video=video_of(tracks.name),
                    category=category_of(tracks.name),
                    pool=pool,
                )
            )
        except AnnealedError as error:
            warn(f"{tracks.name}: {error}")
    bars.update("sequences", len(sequences), len(sequences))
    if not described:
        raise DataError(f"{folder}: none of the {len(sequences)} sequences can be used")
    return described
