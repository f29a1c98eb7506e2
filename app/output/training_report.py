"""What a training run did, as sections of a page."""

import numpy as np

from ...models.keypoints.training.mining import join_examples
from ...models.keypoints.training.phases import UNITS, Phases
from ...models.keypoints.training.trainer import TrainingResult
from . import figures
from .page import Page

_SHEET_COLUMNS = 20
_SHEET_WINDOWS = 60
_EXAMPLES = 4000


def add_training(page: Page, result: TrainingResult) -> None:
    """Add what the run selected, mined and measured, keypoint by keypoint."""
    for k, name in enumerate(result.detector.keypoint_names):
        page.heading(name)
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
    page.text(
        f"{len(order)} features were selected: {', '.join(counts)}. Below, the "
        "strongest on the mean positive window (green counts up, red down), then the response to each, "
        "over the values that positives (green) and random negatives (red) have."
    )
    page.picture(figures.draw_features(classifier, figures.mean_window(positives), order))
    page.picture(figures.plot_responses(classifier, order, positive_codes, negative_codes))


def _add_mined(page: Page, result: TrainingResult, k: int) -> None:
    """Contact sheets: some positives, and the hardest negatives of the last mining round."""
    positives = result.rounds[0].positives[k].patches
    shown = positives[np.linspace(0, len(positives) - 1, min(2 * _SHEET_COLUMNS, len(positives))).astype(int)]
    page.picture(figures.contact_sheet(shown, columns=_SHEET_COLUMNS), f"some of {len(positives)} positives")
    mined = [(n, r) for n, r in enumerate(result.rounds) if n > 0 and len(r.negatives[k])]
    if not mined:
        page.text("Mining met no negative that scored above its floor.")
        return
    number, last = mined[-1]
    page.picture(
        figures.contact_sheet(last.negatives[k].patches[:_SHEET_WINDOWS], columns=_SHEET_COLUMNS),
        f"the hardest of {len(last.negatives[k])} negatives mined in round {number}",
    )


def _add_validation(page: Page, result: TrainingResult, k: int) -> None:
    """Precision and recall on the held-out photos, round by round."""
    summaries = [r.record.validation[k] for r in result.rounds]
    if not summaries[-1].photos:
        return
    page.picture(
        figures.plot_curves({f"round {n}": s.curve for n, s in enumerate(summaries)}),
        f"{summaries[-1].photos} held-out photos, {summaries[-1].keypoints} keypoints, hit within 5 %",
    )
    page.text(
        "They choose round, threshold and weights: a selection score, which new photos will hardly reach."
    )
    page.table(
        ["round", "negatives", "average precision", "recall", "precision", "false a photo"],
        [
            [
                n,
                f"{sum(len(r.negatives[k]) for r in result.rounds[: n + 1]):,}",
                f"{s.average_precision:.3f}",
                f"{s.recall:.3f}",
                f"{s.precision:.3f}",
                f"{s.false_per_photo:.2f}",
            ]
            for n, s in enumerate(summaries)
        ],
    )
