"""What several commands' arguments stand for."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..features.errors import DataError, ParameterError

PHOTOS_HELP = (
    "Annotated photos: a folder with keypoints.csv, a DeepLabCut project, or any annotation that "
    "`annealed convert` reads."
)

RULES = "auto", "size", "box"
SCALE_BY_HELP = (
    "Size of an object: 'auto', 'size' (annotated), 'box', 'shape' (of a rigid 3-D shape fitted to all its "
    "keypoints), or two keypoints with a comma."
)

SequenceFolder = Annotated[
    Path, typer.Argument(help="Folder of Hopkins 155: <sequence>/<sequence>_truth.mat.")
]
DetectorOption = Annotated[
    str,
    typer.Option(
        help="Model file, or the name of a model that ships ('face': research use only, see its card)."
    ),
]
RawOption = Annotated[
    bool, typer.Option("--raw", help="Single detections, whether they make up an object or not.")
]
AnglesOption = Annotated[
    str | None,
    typer.Option(
        help="Angles by which objects may be turned: 'upright', 'all', or degrees clockwise with commas; by "
        "default what the training photos show."
    ),
]
PoolOption = Annotated[
    str,
    typer.Option(
        help="Candidates: 'paper' (velocity clustering), 'large' (more generators) or 'pairs' (of frames)."
    ),
]
MemoryBudgetOption = Annotated[
    str | None,
    typer.Option(
        help="Memory that the fit may take besides the program itself, such as 2GB; 1 GiB by default.",
        rich_help_panel="Large tables",
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        help="Dask cluster to run on: the address of its scheduler, such as tcp://10.0.0.1:8786, or local:N "
        "for N worker processes on this machine.",
        rich_help_panel="Cluster",
    ),
]
FeaturesOption = Annotated[str, typer.Option(help="'all', 'likelihood' or 'prior'.")]
FormOption = Annotated[
    str,
    typer.Option(
        help="Features 'relative' to the sequence's least value, in units of its 'range', or 'raw'."
    ),
]
SizeOption = Annotated[int, typer.Option("-k", help="Features to select.")]
OverwriteOption = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace what an earlier run has written there; without it a place that is taken is refused.",
        rich_help_panel="Output",
    ),
]

if TYPE_CHECKING:
    from ..datasets.photos.photo_set import PhotoSet
    from ..models.keypoints.detector import KeypointDetector


def load_detector(model: str) -> "KeypointDetector":
    """Load a model file, or a model that ships, that must hold a keypoint detector."""
    from ..models.keypoints.detector import KeypointDetector
    from ..models.model_files import load_model, resolve_model_path, shipped_models

    kind = "keypoint-detector"
    detector = load_model(resolve_model_path(model, kind))
    if not isinstance(detector, KeypointDetector):
        ours = ", ".join(shipped_models(kind))
        what = type(detector).__name__
        raise DataError(f"{model}: holds a {what}, not a keypoint detector; of those {ours} ships")
    return detector


def keypoint_names(text: str) -> list[str]:
    """Read the value of --keypoint: different names with commas between them."""
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) != len(names):
        raise ParameterError(f"--keypoint is {text!r}; accepted are different names with commas between them")
    return names


def angles(text: str) -> tuple[float, ...]:
    """Read the value of --angles: a word, or degrees with commas between them."""
    from ..models.keypoints.angles import ALL_AROUND, UPRIGHT, check_angles

    words = {"upright": UPRIGHT, "all": ALL_AROUND}
    if text in words:
        return words[text]
    try:
        degrees = tuple(float(part) for part in text.split(","))
        check_angles(degrees)
    except ValueError:
        raise ParameterError(
            f"--angles is {text!r}; accepted are {', '.join(words)}, or different numbers of degrees with "
            "commas between them"
        ) from None
    return degrees


def sized(photos: "PhotoSet", scale_by: str) -> "PhotoSet":
    """Set the size of every object as --scale-by says."""
    from ..datasets.photos.photo_set import with_sizes
    from ..models.keypoints.objects.shape_sizes import fitted_sizes

    if scale_by != "shape":
        return with_sizes(photos, scale_reference(scale_by))
    photos = with_sizes(photos)
    pairs = zip(photos.photos, fitted_sizes(photos.photos), strict=True)
    return replace(photos, photos=tuple(replace(photo, sizes=sizes) for photo, sizes in pairs))


def scale_reference(text: str) -> str | tuple[str, str]:
    """Read the value of --scale-by: a rule's name, or two keypoints with a comma between them."""
    if text in RULES:
        return text
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise ParameterError(
            f"--scale-by is {text!r}; accepted are {', '.join(RULES)}, shape, or two keypoints with a comma "
            "between them"
        )
    return names[0], names[1]
