"""What training and evaluating a ranker of segmentations share: labelled sequences, described."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .progress import Bars, warn

if TYPE_CHECKING:
    from ..datasets.tracks.tracks import Tracks
    from ..models.motion import MotionRanker
    from ..models.motion.disturbances import LabelledTracks
    from ..models.motion.experiment import RankingProblem

Item = TypeVar("Item")
NUMBERS = (1, 2, 3)  # of motions, that a ranker learns to tell apart


def describe_folder(folder: Path, pool: str, bars: Bars) -> list["RankingProblem"]:
    """Read, segment and describe the Hopkins 155 sequences of a folder.

    A sequence that cannot be used is reported in one line and left out.

    Raises
    ------
    DataError
        If there is no folder, no sequence in it, or none that can be used.
    """
    from ..models.motion.candidates import check_pool
    from ..models.motion.experiment import describe

    check_pool(pool)

    def described(tracks: "Tracks") -> "RankingProblem":
        assert tracks.labels is not None, "the reader refuses files without labels"
        return describe(tracks.positions, tracks.labels, pool=pool, **_origin(tracks))

    return list(_each(_sequences(folder), described, bars, "sequences"))


def train(ranker: "MotionRanker", folder: Path, bars: Bars) -> list["RankingProblem"]:
    """Train a ranker on the sequences of a folder; return these, described.

    One of the pool "pairs" also learns from a disturbed copy of each sequence, and to tell the number of
    motions from the sequences and each of their motions alone.
    """
    if ranker.pool != "pairs":
        described = describe_folder(folder, ranker.pool, bars)
        ranker.fit_candidates([s.table for s in described], [s.errors for s in described])
        return described
    from ..models.motion.disturbances import training_copy
    from ..models.motion.experiment import describe_tracks

    sequences = _sequences(folder)
    number = {tracks.name: i for i, tracks in enumerate(sequences)}

    def clean(tracks: "Tracks") -> "RankingProblem":
        return describe_tracks(_labelled(tracks), NUMBERS, **_origin(tracks))

    def copy(tracks: "Tracks") -> "RankingProblem":
        return describe_tracks(training_copy(_labelled(tracks), number[tracks.name]), **_origin(tracks))

    def single(part: tuple["Tracks", int]) -> "RankingProblem":
        return describe_tracks(_one_motion(*part), NUMBERS, **_origin(part[0]))

    described = list(_each(sequences, clean, bars, "sequences"))
    copies = list(_each(sequences, copy, bars, "disturbed copies"))
    parts = [(tracks, motion) for tracks in sequences for motion in _motions_alone(tracks)]
    singles = list(_each(parts, single, bars, "single motions"))
    fit_all(ranker, described, copies, singles)
    return described


def fit_all(
    ranker: "MotionRanker",
    clean: list["RankingProblem"],
    copies: list["RankingProblem"],
    singles: list["RankingProblem"],
) -> None:
    """Fit a ranker of the pool "pairs": its choice on sequences and copies, its number without the copies."""
    both = [*clean, *copies]
    ranker.fit_candidates([s.table for s in both], [s.errors for s in both])
    numbered = [s for s in (*clean, *singles) if s.over_numbers is not None]
    ranker.fit_numbers([s.over_numbers for s in numbered if s.over_numbers], [s.n_motions for s in numbered])


def _sequences(folder: Path) -> list["Tracks"]:
    from ..datasets.tracks.hopkins import load_hopkins155

    return load_hopkins155(folder, on_problem=warn)


def _origin(tracks: "Tracks") -> dict[str, str]:
    from ..datasets.tracks.hopkins import category_of, video_of

    return {"name": tracks.name, "video": video_of(tracks.name), "category": category_of(tracks.name)}


def _labelled(tracks: "Tracks") -> "LabelledTracks":
    from ..models.motion.disturbances import LabelledTracks

    assert tracks.labels is not None, "the reader refuses files without labels"
    return LabelledTracks(tracks.positions, tracks.visible, tracks.labels)


def _motions_alone(tracks: "Tracks") -> range:
    """The motions of a video; parts of a video, whose motions are the video's, give none."""
    from ..datasets.tracks.hopkins import video_of

    return range(tracks.n_motions if video_of(tracks.name) == tracks.name else 0)


def _one_motion(tracks: "Tracks", motion: int) -> "LabelledTracks":
    from ..models.motion.disturbances import one_motion

    return one_motion(_labelled(tracks), motion)


def _each(
    items: list[Item], describe: Callable[[Item], "RankingProblem"], bars: Bars, phase: str
) -> Iterable["RankingProblem"]:
    """Describe one after the other; what cannot be used is reported, and an error if that is all."""
    from ..features.errors import AnnealedError, DataError

    n_used = 0
    for done, item in enumerate(items):
        bars.update(phase, done, len(items))
        try:
            problem = describe(item)
        except AnnealedError as error:
            name = getattr(item[0] if isinstance(item, tuple) else item, "name", phase)
            warn(f"{name}: {error}")
            continue
        n_used += 1
        yield problem
    bars.update(phase, len(items), len(items))
    if items and not n_used:
        raise DataError(f"none of the {len(items)} {phase} can be used")
