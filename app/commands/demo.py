"""`annealed demo`: train and use a keypoint detector on pictures that need no download."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..arguments import OverwriteOption

if TYPE_CHECKING:
    import numpy as np

    from ...datasets.photos.photo_set import Photo, PhotoSet
    from ...models.keypoints.detector import KeypointDetector
    from ...models.keypoints.training.config import TrainingConfig
    from ...models.keypoints.training.trainer import TrainingResult

KEYPOINTS = ("left_eye_center", "right_mouth_corner")
N_TRAINING, N_TEST = 24, 10


def command(
    out: Annotated[Path, typer.Option(help="Folder for the page, the pictures and the model.")] = Path(
        "demo-output"
    ),
    overwrite: OverwriteOption = False,
) -> None:
    """Train a detector of two face keypoints on composed photos, use it on others, and show both.

    Takes well under a minute. The photos are composed from pictures that come with scikit-image.
    """
    from ...datasets.photos.sample_photos import load_astronaut, make_sample_photos
    from ...models.keypoints.training.trainer import train_detector
    from ...models.whole_files import whole_folder
    from ..places import check_new_folder, results_folder
    from ..progress import Bars

    check_new_folder(out, overwrite)
    training = make_sample_photos(N_TRAINING)
    test = make_sample_photos(N_TEST, split="test", shape=(300, 400))
    columns = {name: training.keypoint_index(name) for name in KEYPOINTS}
    with Bars() as bars:
        result = train_detector(training.photos, columns, _config(), report=bars.update)
    scores, pictures = _try_out(result.detector, test, load_astronaut(), result)
    with results_folder(out, overwrite), whole_folder(out) as folder:
        result.detector.save(folder / "demo.safetensors")
        (folder / "index.html").write_text(_render(result, scores, pictures), encoding="utf-8")
    for name, line in scores.items():
        print(f"{name}: {line}")
    print("seconds: " + ", ".join(f"{name} {value:.1f}" for name, value in result.phases.seconds.items()))
    print(f"see {out / 'index.html'}")


def _config() -> "TrainingConfig":
    """A small setting: HOG and a twentieth of the Haar features, 80 features selected, two rounds."""
    from ...models.keypoints.training.alignment_fitting import AlignConfig
    from ...models.keypoints.training.classifier_fitting import FitConfig
    from ...models.keypoints.training.config import TrainingConfig
    from ...models.keypoints.training.refinement_fitting import RefineConfig

    return TrainingConfig(
        rounds=2,
        n_hard=1500,
        n_random=3000,
        n_haar=3000,
        validation=0.125,
        fit=FitConfig(k=80, n_iter=200),
        refine=RefineConfig(k=80, n_iter=150),
        align=AlignConfig(k=80, n_haar=300, n_starts=6),
    )


def _try_out(
    detector: "KeypointDetector", test: "PhotoSet", portrait: "Photo", result: "TrainingResult"
) -> tuple[dict[str, str], list[tuple["np.ndarray", str]]]:
    """Detect on the test scenes and the portrait: a line of scores per keypoint, and pictures."""

    from ...models.keypoints.evaluation import observed, precision_recall
    from ...models.keypoints.training.targets import keypoint_targets
    from ..output.overlay import draw_detections

    judged: dict[str, list] = {name: [] for name in detector.keypoint_names}
    pictures = []
    with result.phases.measure("detecting"):
        found = [detector.detect(photo.read()) for photo in (*test, portrait)]
    for photo, detections in zip((*test, portrait), found, strict=True):
        for classifier in detector.classifiers:
            name = classifier.keypoint
            targets = keypoint_targets(photo, test.keypoint_index(name))
            judged[name].append(observed(detections, name, targets))
        picture = draw_detections(
            photo.read(), detections, detector.keypoint_names, object_px=detector.object_px, enlarge=True
        )
        pictures.append((picture, photo.name))
    scores = {}
    for classifier in detector.classifiers:
        curve = precision_recall(judged[classifier.keypoint])
        recall, precision, _ = curve.at(classifier.threshold)
        scores[classifier.keypoint] = (
            f"found {round(recall * curve.n_keypoints)} of {curve.n_keypoints} within 5 % of the eye "
            f"distance, precision {precision:.2f}"
        )
    return scores, pictures


def _render(
    result: "TrainingResult", scores: dict[str, str], pictures: list[tuple["np.ndarray", str]]
) -> str:
    from ..output.page import Page
    from ..output.training_report import add_times, add_training

    page = Page(
        "Feature selection with annealing: a keypoint detector",
        f"Trained on {N_TRAINING} photos with one to three faces each, two keypoints at once, no GPU. The "
        "photos are composed: one astronaut's head, turned, scaled, mirrored and relit, on pictures that "
        "come with scikit-image. It shows how training and detection work, not how good a face detector "
        "can be.",
    )
    page.heading("Found in photos that were not trained on")
    page.text(
        "Other backgrounds, other poses, and at the end the untouched portrait. A circle is a detection, the "
        "number its score."
    )
    page.pictures(pictures)
    page.table(["keypoint", "result"], list(scores.items()))
    add_training(page, result)
    add_times(page, result)
    return page.render()
