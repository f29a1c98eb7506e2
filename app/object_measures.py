"""Whole objects judged as people of each field report them: OKS average precision, PCK, errors in pixels."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..datasets.photos.annotation_formats import read_annotations
from ..datasets.photos.photo_set import Photo, PhotoSet, object_boxes
from ..features.errors import ParameterError
from ..models.keypoints.objects.model import Objects
from ..models.keypoints.similarity import (
    UNIFORM_SIGMA,
    PhotoObjects,
    average_precision,
    check_sigmas,
    correct_share,
    fitted_sigmas,
    keypoint_errors,
)

PCK_PARTS = (0.05, 0.1, 0.2)
"""Of the object's size, within which a keypoint is correct."""


@dataclass(frozen=True, eq=False)
class JudgedObjects:
    """Objects found in photos beside the annotated ones.

    Attributes
    ----------
    names : tuple of str
        Keypoints that both know.
    photos : tuple of PhotoObjects
    sizes : tuple of ndarray of shape (m,), float64
        Of the annotated objects, by photo.
    """

    names: tuple[str, ...]
    photos: tuple[PhotoObjects, ...]
    sizes: tuple[np.ndarray, ...]


def judged_objects(
    found: Sequence[Objects], photos: Sequence[Photo], annotated: tuple[str, ...]
) -> JudgedObjects:
    """Put what was found in photos beside what is annotated there, for the keypoints that both know."""
    detected = found[0].names if found else ()
    names = tuple(name for name in detected if name in annotated)
    mine, theirs = [detected.index(name) for name in names], [annotated.index(name) for name in names]
    return JudgedObjects(
        names,
        tuple(
            PhotoObjects(
                objects.points[:, mine], objects.scores, photo.points[:, theirs], _areas(photo), photo.ignore
            )
            for objects, photo in zip(found, photos, strict=True)
        ),
        tuple(photo.sizes for photo in photos),
    )


def _areas(photo: Photo) -> np.ndarray:
    """Areas of the annotated objects' boxes; where a box has none, the square of the size."""
    boxes = object_boxes(photo)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return np.nan_to_num(np.where(areas > 0, areas, photo.sizes**2))


def sigmas_of(text: str | None, names: tuple[str, ...], photos: PhotoSet) -> np.ndarray:
    """Read the value of --sigmas: one number, one per keypoint, or another labelling of the same photos.

    Raises
    ------
    ParameterError
        If it is none of these.
    """
    if text is None:
        return check_sigmas([UNIFORM_SIGMA], len(names))
    if Path(text).exists():
        return _fitted(read_annotations(text), names, photos)
    try:
        return check_sigmas([float(part) for part in text.split(",")], len(names))
    except ValueError as error:
        raise ParameterError(
            f"--sigmas is {text!r}; accepted are a number, one for each of {', '.join(names)}, or another "
            f"labelling of the same photos ({error})"
        ) from None


def _fitted(again: PhotoSet, names: tuple[str, ...], photos: PhotoSet) -> np.ndarray:
    """Sigmas from two labellings: of photos with the same name and number of objects."""
    twice = {photo.name: photo for photo in again}
    pairs = [(photo, twice[photo.name]) for photo in photos if photo.name in twice]
    pairs = [(one, two) for one, two in pairs if len(one.points) == len(two.points) > 0]
    missing = [name for name in names if name not in again.keypoint_names]
    if not pairs or missing:
        what = f"keypoints {', '.join(missing)}" if missing else "photos of the same names"
        raise ParameterError(f"the second labelling lacks {what}")
    first = [photos.keypoint_index(name) for name in names]
    second = [again.keypoint_index(name) for name in names]
    return fitted_sigmas(
        [one.points[:, first] for one, _ in pairs],
        [two.points[:, second] for _, two in pairs],
        [_areas(one) for one, _ in pairs],
    )


def object_rows(judged: JudgedObjects, sigmas: np.ndarray) -> list[dict[str, str]]:
    """One line per keypoint, and one for all: errors of the best objects, as many as are annotated."""
    shape = (0, len(judged.names))
    errors = np.concatenate([np.empty(shape), *(_errors_of_best(photo) for photo in judged.photos)])
    sizes = np.concatenate([np.empty(0), *judged.sizes])
    rows = [
        _row(name, errors[:, k : k + 1], sizes, f"{sigmas[k]:.4f}") for k, name in enumerate(judged.names)
    ]
    return [*rows, _row("all", errors, sizes, "-")]


def _errors_of_best(photo: PhotoObjects) -> np.ndarray:
    best = np.argsort(-photo.scores, kind="stable")[: len(photo.truth)]
    return keypoint_errors(
        PhotoObjects(photo.points[best], photo.scores[best], photo.truth, photo.areas, photo.ignore)
    )


def _row(name: str, errors: np.ndarray, sizes: np.ndarray, sigma: str) -> dict[str, str]:
    known = ~np.isnan(errors)
    found = np.isfinite(errors)
    row = {"keypoint": name, "annotated": f"{known.sum()}", "found": f"{_share(found.sum(), known.sum())}"}
    pixels = errors[found]
    row["mean px"] = f"{pixels.mean():.2f}" if len(pixels) else "-"
    row["median px"] = f"{np.median(pixels):.2f}" if len(pixels) else "-"
    flat, owners = errors.reshape(-1, 1), np.repeat(sizes, errors.shape[1])
    for part in PCK_PARTS:
        row[f"PCK {part:g}"] = f"{float(correct_share(flat, owners, part)[0]):.3f}" if known.any() else "-"
    row["sigma"] = sigma
    return row


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def similarity_line(judged: JudgedObjects, sigmas: np.ndarray) -> str:
    """Average precision over object keypoint similarity, in words."""
    scores = average_precision(judged.photos, sigmas)
    return (
        f"OKS: AP {scores.ap:.3f}, AP at .5 {scores.ap50:.3f}, at .75 {scores.ap75:.3f}, "
        f"recall {scores.recall:.3f}, of {scores.n_objects} objects"
    )
