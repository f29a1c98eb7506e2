"""`annealed evaluate-detector`: precision and recall of a detector on annotated photos."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..arguments import PHOTOS_HELP, SCALE_BY_HELP, DetectorOption, OverwriteOption, RawOption

if TYPE_CHECKING:
    from ...datasets.photos.photo_set import Photo, PhotoSet
    from ...models.keypoints.detector import KeypointDetector
    from ...models.keypoints.evaluation import Observed, PrecisionRecall
    from ...models.keypoints.objects.model import Objects
    from ..output.evaluation_report import Judged

NEAR = 0.1  # the wider radius, in parts of the object's size: found but not well localised
SURE = 0.9  # precision at which recall is given
LOWEST = {True: 0.0, False: -6.0}  # scores of single detections, log-odds of objects, that are looked at
EVEN = 0.0  # log-odds of an object's keypoint that is as likely right as wrong


def command(
    data: Annotated[Path, typer.Argument(help=PHOTOS_HELP)],
    model: DetectorOption = "face",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for summary.csv, curves.csv, curves.png and report.html, with pictures."),
    ] = None,
    hit: Annotated[float, typer.Option(help="A keypoint is found within this part of the size.")] = 0.05,
    miss: Annotated[
        float, typer.Option(help="A false alarm is farther than this from every object's.")
    ] = 0.10,
    raw: RawOption = False,
    lowest: Annotated[
        float | None,
        typer.Option(
            help="Lowest score of an object, or of a single detection, that is looked at; -6 and 0."
        ),
    ] = None,
    scale_by: Annotated[str, typer.Option(help=SCALE_BY_HELP)] = "auto",
    whole: Annotated[
        bool, typer.Option("--whole", help="Judge whole objects too: OKS, PCK, errors in pixels.")
    ] = False,
    sigmas: Annotated[
        str | None,
        typer.Option(
            help="For --whole: how far apart people put a keypoint, in parts of the root of the object's "
            "area: a number (0.05), one per keypoint with commas, or another labelling of the same photos."
        ),
    ] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Measure a detector by the criteria of section 3.3: one line per keypoint, and curves.

    Distances are parts of an object's size, for a face its inter-eye distance. Detections between the
    two radii, or in regions that the data says to ignore, count as neither found nor false. Judged are
    the keypoints of objects, whose scores are log-odds; with --raw, and for a model of fewer than three
    keypoints, single detections. Recall and precision are given at even odds, or at each keypoint's
    threshold. With --out a report shows the worst misses and false alarms at that threshold.

    --whole adds COCO's average precision over object keypoint similarity (OKS), and, of the best objects of
    each photo, as many as are annotated, the share of keypoints within parts of the size (PCK) and their
    errors in pixels.
    """
    from ...datasets.photos.annotation_formats import read_annotations
    from ...features.errors import ParameterError
    from ...models.keypoints.evaluation import Criteria, precision_recall
    from ..arguments import load_detector, sized
    from ..places import check_new_folder, results_folder
    from ..progress import warn, warn_of_problems

    if out is not None:
        check_new_folder(out, overwrite)
    criteria, wide = Criteria(hit, miss), Criteria(max(hit, NEAR), max(miss, NEAR))
    detector = load_detector(model)
    photos = read_annotations(data)
    warn_of_problems(photos.problems)
    photos = sized(photos, scale_by)
    raw = raw or not detector.finds_objects
    whole = whole or sigmas is not None
    if whole and raw:
        raise ParameterError("--whole takes objects: not --raw, nor a model that finds single keypoints only")
    used, seen, objects, problems = _observe(detector, photos, raw, LOWEST[raw] if lowest is None else lowest)
    warn_of_problems(problems)
    curves = {name: precision_recall(judged, criteria) for name, judged in seen.items()}
    near = {name: precision_recall(judged, wide) for name, judged in seen.items()}
    thresholds = {c.keypoint: c.threshold if raw else EVEN for c in detector.classifiers}
    rows = [_row(name, thresholds[name], curves[name], near[name]) for name in curves]
    print(_table(rows))
    if whole:
        from ..object_measures import judged_objects, object_rows, sigmas_of, similarity_line

        together = judged_objects(objects, used, photos.keypoint_names)
        spreads = sigmas_of(sigmas, together.names, photos)
        print("\n" + _table(object_rows(together, spreads)))
        print("\n" + similarity_line(together, spreads))
    n_skipped = len(photos.problems) + len(problems)
    work = f"{'single detections' if raw else 'keypoints of objects'} in {len(used)} photos"
    if out is not None:
        from ...models.whole_files import whole_folder
        from ..output.evaluation_report import Judged

        title = f"{Path(model).name} on {data.resolve().name}: {work}"
        judged = Judged(used, seen, thresholds, criteria, detector.object_px)
        with results_folder(out, overwrite), whole_folder(out) as folder:
            figure = _write(folder, rows, curves)
            (folder / "report.html").write_text(_render(title, rows, figure, judged), encoding="utf-8")
    warn(work + (f", {n_skipped} problems" if n_skipped else ""))


def _observe(
    detector: "KeypointDetector", photos: "PhotoSet", raw: bool, lowest: float
) -> tuple[list["Photo"], dict[str, list["Observed"]], list["Objects"], list[str]]:
    """Photos that can be used, what was found beside annotation, by keypoint and as objects; problems."""
    from ...features.errors import DataError
    from ...models.keypoints.evaluation import observed
    from ...models.keypoints.training.targets import keypoint_targets
    from ..progress import Bars

    names = [name for name in detector.keypoint_names if name in photos.keypoint_names]
    if not names:
        raise DataError(
            f"the model finds {', '.join(detector.keypoint_names)}; annotated are "
            f"{', '.join(photos.keypoint_names)}"
        )
    seen: dict[str, list[Observed]] = {name: [] for name in names}
    used, problems = [], []
    objects: list[Objects] = []
    with Bars() as bars:
        for i, photo in enumerate(photos):
            bars.update("detecting", i, len(photos))
            try:
                if raw:
                    detections = detector.detect(photo.read(), threshold=lowest, raw=True)
                else:
                    objects.append(detector.detect_objects(photo.read(), threshold=lowest))
                    detections = objects[-1].detections
            except DataError as error:
                problems.append(f"{photo.name}: {error}")
                continue
            used.append(photo)
            for name in names:
                targets = keypoint_targets(photo, photos.keypoint_index(name))
                seen[name].append(observed(detections, name, targets))
        bars.update("detecting", len(photos), len(photos))
    if not used:
        raise DataError(f"none of the {len(photos)} photos could be used; the first: {problems[0]}")
    return used, seen, objects, problems


def _row(name: str, threshold: float, curve: "PrecisionRecall", near: "PrecisionRecall") -> dict[str, str]:
    """One keypoint's figures, by column."""
    recall, precision, false_per_photo = curve.at(threshold)
    return {
        "keypoint": name,
        "visible": f"{curve.n_keypoints}",
        "average precision": f"{curve.average_precision:.3f}",
        f"recall at precision {SURE:g}": f"{curve.recall_at_precision(SURE):.3f}",
        "recall": f"{recall:.3f}",
        "precision": f"{precision:.3f}",
        "false a photo": f"{false_per_photo:.3f}",
        "recall of any score": f"{curve.recall.max(initial=0.0):.3f}",
        "the same, wider": f"{near.recall.max(initial=0.0):.3f}",
    }


def _table(rows: list[dict[str, str]]) -> str:
    """A Markdown table."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _write(out: Path, rows: list[dict[str, str]], curves: dict[str, "PrecisionRecall"]) -> bytes:
    """Write the tables and the figure; return the figure."""
    import csv

    from ..output.figures import plot_curves

    with open(out / "summary.csv", "w", newline="", encoding="utf-8") as stream:
        summary = csv.DictWriter(stream, list(rows[0]))
        summary.writeheader()
        summary.writerows(rows)
    with open(out / "curves.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["keypoint", "threshold", "recall", "precision", "false_per_photo"])
        for name, curve in curves.items():
            for row in zip(
                curve.threshold, curve.recall, curve.precision, curve.false_per_photo, strict=True
            ):
                writer.writerow([name, *(f"{value:.6g}" for value in row)])
    points = {
        name: [[*pair] for pair in zip(c.recall, c.precision, strict=True)] for name, c in curves.items()
    }
    figure = plot_curves(points)
    (out / "curves.png").write_bytes(figure)
    return figure


def _render(title: str, rows: list[dict[str, str]], figure: bytes, judged: "Judged") -> str:
    """The report as a page."""
    from ..output.evaluation_report import add_errors
    from ..output.page import Page

    page = Page(
        title,
        f"Found: within {judged.criteria.hit:g} of the object's size. False: {judged.criteria.miss:g} or "
        "more from the keypoint of every object, and in no region that the data says to ignore.",
    )
    page.table(list(rows[0]), [list(row.values()) for row in rows])
    page.figure(figure, "Precision over recall of each keypoint, as the threshold falls from left to right.")
    add_errors(page, judged)
    return page.render()
