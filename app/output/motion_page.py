"""The page of a segmentation: which tracks move together, what else was thought of, and how sure it is."""

from pathlib import Path
from typing import Any

import numpy as np

from ..wording import count, listed
from .motion_overlay import UNLABELLED_COLOUR, colour_of
from .page import Page

MOST_CANDIDATES = 30
"""That are listed; all of them are in the table beside the page."""


def add_segmentation(
    page: Page, document: dict[str, Any], sheet: np.ndarray, video: Path | None, level: int = 2
) -> None:
    """Add what was found in one input.

    Parameters
    ----------
    page : Page
    document : dict
        As `motion_files.summary` gives it.
    sheet : ndarray of shape (H, W, 3), uint8
        Some frames with the tracks drawn in, without words.
    video : Path or None
        Its name beside the page.
    level : int
        Of headings.
    """
    motions = {int(label): n for label, n in document["motions"].items()}
    page.key(
        {f"motion {label}: {count(n, 'track')}": colour_of(label) for label, n in motions.items()}
        | {f"no motion: {count(document['tracks'] - sum(motions.values()), 'track')}": UNLABELLED_COLOUR}
    )
    page.picture(
        sheet,
        "Some frames, in reading order. A dot is a tracked point, the line behind it where it came from, its "
        "colour the motion that it belongs to; grey points fit no motion.",
        alt=f"Frames with tracked points in {count(len(motions), 'colour')}, one for each motion",
    )
    if video is not None:
        page.video(str(video), "The whole clip with the tracks drawn in.")
    _add_numbers(page, document)
    _add_candidates(page, document, level)


def segmentation_page(document: dict[str, Any], sheet: np.ndarray, video: Path | None) -> str:
    """Return a page about one input; see `add_segmentation`."""
    name = Path(document["input"]).name
    page = Page(
        f"Motions in {name}",
        f"{count(len(document['motions']), 'motion')} among {count(document['tracks'], 'track')} of "
        f"{count(document['frames'], 'frame')}.",
    )
    add_segmentation(page, document, sheet, video)
    return page.render()


def _add_numbers(page: Page, document: dict[str, Any]) -> None:
    """How sure the segmentation is, and of its number of motions."""
    facts = {
        "Doubtful": f"{count(document['doubtful'], 'track')} whose label the candidates do not agree on",
        "Outliers": count(document["outliers"], "track"),
    }
    if document["margin"] is not None:
        facts["Margin"] = f"{document['margin']:.2f} between the scores of the best candidate and the next"
    if document["number_scores"]:
        scores = [f"{n}: {score:.2f}" for n, score in document["number_scores"].items()]
        facts["Number of motions"] = f"found; scores by number {listed(scores, 8, 'number')}"
    if document.get("error_of_best") is not None:
        facts["Labels in the file"] = f"differ on {100 * document['error_of_best']:.2f} % of the tracks"
    page.facts(facts)


def _add_candidates(page: Page, document: dict[str, Any], level: int) -> None:
    from .motion_files import parameter_text

    rows = document["candidates"]
    page.heading("Candidates", level)
    more = f", of {len(rows)} the first {MOST_CANDIDATES}" if len(rows) > MOST_CANDIDATES else ""
    page.text(
        "Segmentations that were made in different ways, ranked by a model that was learned from sequences "
        f"with known motions{more}. The first is the one shown."
    )
    page.table(
        ["made by", "rank", "score", "differs from the first"],
        [
            [
                f"{row['generator']} {parameter_text(row['parameters'])}".rstrip(),
                row["rank"],
                f"{row['score']:.3f}",
                f"{100 * row['disagreement']:.1f} %",
            ]
            for row in rows[:MOST_CANDIDATES]
        ],
    )
