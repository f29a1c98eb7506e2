"""What a detector gets wrong on annotated photos, as sections of a page: counts, and the worst errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ...datasets.photos.photo_set import Photo
from ...models.keypoints.evaluation import Criteria, Observed
from .case_pictures import SIDE_PX, SPAN, draw_case
from .page import Page
from .worst_cases import NEAR, FalseAlarm, Miss, false_alarms, misses, pick_misses

N_SHOWN = 12
_COUNTS = (
    *("keypoint", "threshold", "visible", "missed", "off", "hit too low", "off and too low", "nothing"),
    *("false alarms", "near", "elsewhere"),
)

Errors = dict[str, tuple[list[Miss], list[FalseAlarm]]]
"""All misses and all false alarms of each keypoint, worst first."""


@dataclass(frozen=True, eq=False)
class Judged:
    """A detector's work on photos, and what it is judged by.

    Attributes
    ----------
    photos : sequence of Photo
    seen : dict of str to list of Observed
        Of each keypoint, one entry a photo.
    thresholds : dict of str to float
        Lowest score that is reported, of each keypoint.
    criteria : Criteria
    object_px : float
        The detector's: typical size of an object in pixels of a window.
    """

    photos: Sequence[Photo]
    seen: dict[str, list[Observed]]
    thresholds: dict[str, float]
    criteria: Criteria
    object_px: float


def add_errors(page: Page, judged: Judged) -> None:
    """Add a table of the kinds of errors, and pictures of the worst, keypoint by keypoint."""
    errors: Errors = {
        name: (
            misses(seen, judged.thresholds[name], judged.criteria),
            false_alarms(seen, judged.thresholds[name], judged.criteria, judged.object_px),
        )
        for name, seen in judged.seen.items()
    }
    page.heading("Kinds of errors")
    _add_counts(page, judged, errors)
    page.heading("How to read the pictures")
    _add_legend(page, judged.criteria)
    for name, (missed, alarms) in errors.items():
        _add_sheets(page, judged, name, missed, alarms)


def _add_counts(page: Page, judged: Judged, errors: Errors) -> None:
    page.text(
        f"A missed keypoint is off if a detection within {NEAR:g} sizes reaches the threshold; otherwise the "
        "best one there scores too low, as a hit or off as well, or there is nothing. A false alarm is near "
        f"a keypoint, within {NEAR:g} sizes, or elsewhere."
    )
    rows = [_count(judged, name, missed, alarms) for name, (missed, alarms) in errors.items()]
    page.table(_COUNTS, rows)


def _count(judged: Judged, name: str, missed: list[Miss], alarms: list[FalseAlarm]) -> list[object]:
    """A keypoint's row of the table."""
    n_off = sum(miss.reported for miss in missed)
    n_nothing = sum(miss.detection is None for miss in missed)
    n_low = sum(not miss.reported and miss.distance <= judged.criteria.hit for miss in missed)
    n_near = sum(alarm.distance <= NEAR for alarm in alarms)
    return [
        name,
        f"{judged.thresholds[name]:.2f}",
        sum(int(photo.targets.visible.sum()) for photo in judged.seen[name]),
        len(missed),
        *(n_off, n_low, len(missed) - n_off - n_low - n_nothing, n_nothing),
        len(alarms),
        *(n_near, len(alarms) - n_near),
    ]


def _add_legend(page: Page, criteria: Criteria) -> None:
    page.text(
        f"Each picture is {SPAN:g} sizes of its object wide, whatever the size in the photo; grey lies "
        "outside the photo. A green cross is an annotated keypoint, a white one is hidden or outside the "
        f"photo; the small circle around it is the hit radius of {criteria.hit:g} sizes, the large one is a "
        "size across. A red ring is a detection that reaches the threshold, with its score; where none of "
        "those is near a missed keypoint, an amber ring is the best of the others. Distances are parts of "
        "the size."
    )
    page.text(
        f"Misses: first those with no detection within {NEAR:g} sizes that reaches the threshold, the "
        "largest object first; then those with one, the farthest first; half of the places for each kind if "
        "there are so many. False alarms: the highest score first; their size is what the scale of the "
        "detection says."
    )


def _add_sheets(page: Page, judged: Judged, name: str, missed: list[Miss], alarms: list[FalseAlarm]) -> None:
    """The two contact sheets of a keypoint."""
    shown = pick_misses(missed, N_SHOWN)
    loudest = alarms[:N_SHOWN]
    pictures = _draw(judged, name, [*shown, *loudest])
    captions = [_describe_miss(judged.photos[miss.photo].name, miss) for miss in shown]
    captions += [_describe_false_alarm(judged.photos[alarm.photo].name, alarm) for alarm in loudest]
    both = list(zip(pictures, captions, strict=True))
    page.heading(f"{name}: worst misses, {len(shown)} of {len(missed)}")
    page.pictures(both[: len(shown)], width_px=SIDE_PX)
    page.heading(f"{name}: worst false alarms, {len(loudest)} of {len(alarms)}")
    page.pictures(both[len(shown) :], width_px=SIDE_PX)


def _draw(judged: Judged, name: str, cases: Sequence[Miss | FalseAlarm]) -> list[np.ndarray]:
    """Draw the cases, reading each photo once and holding one at a time."""
    pictures: dict[int, np.ndarray] = {}
    order = sorted(range(len(cases)), key=lambda i: cases[i].photo)
    for number, group in groupby(order, key=lambda i: cases[i].photo):
        image = judged.photos[number].read()
        for i in group:
            pictures[i] = draw_case(
                image,
                judged.seen[name][number],
                cases[i].place,
                cases[i].size,
                threshold=judged.thresholds[name],
                hit=judged.criteria.hit,
                detection=cases[i].detection,
            )
    return [pictures[i] for i in range(len(cases))]


def _describe_miss(photo: str, miss: Miss) -> str:
    if miss.detection is None:
        off = f"nothing within {NEAR:g}"
    else:
        below = "" if miss.reported else ", below the threshold"
        off = f"{miss.distance:.2f} off, score {miss.score:.1f}{below}"
    return f"{photo}: {off}; size {miss.size:.0f} px"


def _describe_false_alarm(photo: str, alarm: FalseAlarm) -> str:
    off = "no keypoint annotated" if alarm.distance == np.inf else f"{alarm.distance:.2f} from a keypoint"
    return f"{photo}: score {alarm.score:.1f}, {off}; size {alarm.size:.0f} px"
