"""What a training run did, as sections of a page and in words."""

import shlex
import sys
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ...datasets.photos.photo_set import PhotoSet
from ...models.keypoints.training.mining import join_examples
from ...models.keypoints.training.phases import UNITS, Phases
from ...models.keypoints.training.record import SelectionScore
from ...models.keypoints.training.trainer import TrainingResult
from ..wording import count, duration
from . import figures
from .page import Page

_SHEET_COLUMNS = 20
_SHEET_WINDOWS = 60
_EXAMPLES = 4000


@dataclass(frozen=True)
class RunFacts:
    """What a run was told to do, and when it began.

    Attributes
    ----------
    model : Path
        The file that it writes.
    data : Path
        What it is trained on.
    began : float
        Seconds since 1970.
    command : str
        As it was typed.
    """

    model: Path
    data: Path
    began: float = field(default_factory=time.time)
    command: str = field(default_factory=lambda: shlex.join(["annealed", *sys.argv[1:]]))


def training_page(result: TrainingResult, facts: RunFacts, photos: PhotoSet) -> str:
    """Return the report of a training: what was trained, on what, how well it went, and how."""
    names = result.detector.keypoint_names
    page = Page(
        f"Detector of {names[0] if len(names) == 1 else count(len(names), 'keypoint')}",
        f"Trained by feature selection with annealing: {', '.join(names)}.",
    )
    page.facts(
        {
            "Model": str(facts.model),
            "Trained on": f"{facts.data}: {count(len(photos), 'photo')}, {count(photos.n_objects, 'object')}",
            "Began": time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(facts.began)),
            "Took": duration(time.time() - facts.began),
            "Command": facts.command,
            "Program": f"annealed {version('annealed')}",
        }
    )
    page.heading("How good it is")
    add_written(page, result)
    add_training(page, result)
    add_times(page, result)
    return page.render()


def written_scores(result: TrainingResult) -> list[SelectionScore]:
    """Return what the detector that was written scores on the held-out photos, of each keypoint."""
    return [SelectionScore(**score) for score in result.detector.metadata["validation"]]


def describe_written(result: TrainingResult) -> str:
    """Return the figures of the detector that was written, in words."""
    scores = written_scores(result)
    if not scores[0].photos:
        return "no held-out photos to judge it by"
    parts = [
        f"{name} {score.average_precision:.3f}"
        for name, score in zip(result.detector.keypoint_names, scores, strict=True)
    ]
    return f"average precision on {count(scores[0].photos, 'held-out photo')}: {', '.join(parts)}"


def describe_kept(result: TrainingResult, k: int) -> str:
    """Return which round of a keypoint was kept, why, and what the detector scores with it, in words."""
    kept, n_rounds = result.detector.metadata["rounds"][k], len(result.rounds) - 1
    score = written_scores(result)[k]
    why = "the best on the held-out photos" if score.photos else "the last one"
    if n_rounds == 0:
        place = "no mining"
    elif kept == 0:
        place = f"kept before any of {count(n_rounds, 'round')}, {why}"
    else:
        place = f"round {kept} of {n_rounds} kept, {why}"
    if not score.photos:
        return place
    moved = ", with exact places" if result.detector.refiners else ""
    return (
        f"{place}; on {count(score.photos, 'held-out photo')}{moved}: average precision "
        f"{score.average_precision:.3f}, recall {score.recall:.3f} at precision {score.precision:.3f}"
    )


def add_written(page: Page, result: TrainingResult) -> None:
    """Add a table of what the detector that was written scores, and which rounds it is made of."""
    scores = written_scores(result)
    if not scores[0].photos:
        page.text("No photos were held out, so that nothing is known of its quality; the last round is kept.")
        return
    rows = [
        [name, f"{kept} of {len(result.rounds) - 1}", *_score_cells(score)]
        for name, kept, score in zip(
            result.detector.keypoint_names, result.detector.metadata["rounds"], scores, strict=True
        )
    ]
    page.table(["keypoint", "round kept", *_SCORE_COLUMNS], rows)
    moved = "moves its detections to the exact place" if result.detector.refiners else "leaves them as found"
    page.text(
        f"Scores of the detector that was written, which {moved}, on "
        f"{count(scores[0].photos, 'held-out photo')}; a keypoint is found within 5 % of the object's size. "
        "The round is kept whose average precision there is the highest, of equal ones the last. As the same "
        "photos choose threshold and weights, new photos will hardly reach these scores; evaluate-detector "
        "measures them on others."
    )


_SCORE_COLUMNS = "average precision", "recall", "precision", "false alarms a photo"


def _score_cells(score: SelectionScore) -> list[str]:
    return [
        f"{score.average_precision:.3f}",
        f"{score.recall:.3f}",
        f"{score.precision:.3f}",
        f"{score.false_per_photo:.2f}",
    ]


def add_training(page: Page, result: TrainingResult, level: int = 2) -> None:
    """Add what the run selected, mined and measured, keypoint by keypoint."""
    for k, name in enumerate(result.detector.keypoint_names):
        page.heading(name, level)
        _add_classifier(page, result, k)
        _add_mined(page, result, k)
        _add_validation(page, result, k)


def add_times(page: Page, result: TrainingResult) -> None:
    """Add seconds by phase, and how much was done in them."""
    page.heading("Where the time went")
    page.bars(["phase", "seconds", ""], dict(result.phases.seconds))
    for line in describe_rates(result.phases):
        page.text(line)


def describe_rates(phases: Phases) -> list[str]:
    """Return a line for each phase whose work is counted."""
    return [
        f"{phase}: {phases.work[phase]:,} {UNITS[phase]}, {rate / 1e6:.1f} million a second"
        for phase, rate in phases.rates().items()
    ]


def _add_classifier(page: Page, result: TrainingResult, k: int) -> None:
    """The selected features on the mean positive window, and the responses to the strongest of them."""
    classifier = result.detector.classifiers[k]
    positives = join_examples([r.positives[k] for r in result.rounds]).patches[:_EXAMPLES]
    negatives = result.rounds[0].negatives[k].patches[:_EXAMPLES]
    positive_codes, negative_codes = classifier.codes(positives), classifier.codes(negatives)
    order = figures.strongest(classifier, np.concatenate([positive_codes, negative_codes], axis=1))
    counts = [f"{classifier.pool.belongs_to(c).sum()} of {c.name}" for c in classifier.pool.channels]
    page.text(f"{len(order)} features were selected: {', '.join(counts)}.")
    page.figure(
        figures.draw_features(classifier, figures.mean_window(positives), order),
        "What the detector looks at: left all features, right the strongest, on the mean window of the "
        "keypoint. What lies in green counts up, in red down; a bar shows the direction of edges, a dotted "
        "square the neighbourhood that they are compared with.",
    )
    names = ", ".join(classifier.pool[order[:3]].names())
    page.figure(
        figures.plot_responses(classifier, order, positive_codes, negative_codes),
        "What the strongest features add to the score, by their value (line). The shaded areas are how often "
        "windows of the keypoint (green) and random others (red) have that value.",
        alt=f"Responses to the strongest features, among them: {names}",
    )


def _add_mined(page: Page, result: TrainingResult, k: int) -> None:
    """Contact sheets: some positives, and the hardest negatives of the last mining round."""
    positives = result.rounds[0].positives[k].patches
    shown = positives[np.linspace(0, len(positives) - 1, min(2 * _SHEET_COLUMNS, len(positives))).astype(int)]
    page.picture(
        figures.contact_sheet(shown, columns=_SHEET_COLUMNS),
        f"Some of the {count(len(positives), 'window')} that were cut around the keypoint.",
    )
    mined = [(n, r) for n, r in enumerate(result.rounds) if n > 0 and len(r.negatives[k])]
    if not mined:
        page.text("Mining met no negative that scored above its floor.")
        return
    number, last = mined[-1]
    page.picture(
        figures.contact_sheet(last.negatives[k].patches[:_SHEET_WINDOWS], columns=_SHEET_COLUMNS),
        f"The hardest of {len(last.negatives[k]):,} negatives mined in round {number}: what looked like the "
        "keypoint to the detector of the round before, and is none.",
    )


def _add_validation(page: Page, result: TrainingResult, k: int) -> None:
    """Precision and recall on the held-out photos, round by round, and of what was written."""
    summaries = [r.record.validation[k] for r in result.rounds]
    if not summaries[-1].photos:
        return
    kept, written = result.detector.metadata["rounds"][k], written_scores(result)[k]
    names = [f"round {n}" if n else "before mining" for n in range(len(summaries))]
    curves = {name: summary.curve for name, summary in zip(names, summaries, strict=True)}
    page.figure(
        figures.plot_curves(curves, marked=names[kept]),
        f"Precision over recall on {count(written.photos, 'held-out photo')} with "
        f"{count(written.keypoints, 'such keypoint')}, round by round; the one that is kept is drawn thick.",
    )
    rows = [
        [
            name + (" (kept)" if n == kept else ""),
            f"{sum(len(r.negatives[k]) for r in result.rounds[: n + 1]):,}",
            *_score_cells(summary),
        ]
        for n, (name, summary) in enumerate(zip(names, summaries, strict=True))
    ]
    last = "written, exact places" if result.detector.refiners else "written"
    rows.append([last, rows[kept][1], *_score_cells(written)])
    page.table(["round", "negatives", *_SCORE_COLUMNS], rows)
