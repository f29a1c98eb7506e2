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
    from ..demonstration import Faces, Motions

KEYPOINTS = ("left_eye_center", "right_mouth_corner")
N_TRAINING, N_TEST = 24, 10


def command(
    out: Annotated[Path, typer.Option(help="Folder for the page, the pictures and the model.")] = Path(
        "demo-output"
    ),
    overwrite: OverwriteOption = False,
) -> None:
    """Show what the program does: find faces, train a detector of one's own, tell motions apart.

    Takes well under a minute. Faces are found by the model that ships (research use only); the detector is
    trained on photos that are composed, the clip with two motions is rendered, from pictures that come with
    scikit-image.
    """
    from ...datasets.photos.sample_photos import load_astronaut, make_sample_photos
    from ...models.keypoints.training.trainer import train_detector
    from ...models.whole_files import whole_folder
    from ..demonstration import find_faces, find_motions
    from ..places import check_new_folder, results_folder
    from ..progress import Bars

    check_new_folder(out, overwrite)
    training = make_sample_photos(N_TRAINING)
    test = make_sample_photos(N_TEST, split="test", shape=(300, 400))
    columns = {name: training.keypoint_index(name) for name in KEYPOINTS}
    with Bars() as bars:
        result = train_detector(training.photos, columns, _config(), report=bars.update)
    scores, pictures = _try_out(result.detector, test, load_astronaut(), result)
    with result.phases.measure("faces"):
        faces = find_faces()
    with results_folder(out, overwrite), whole_folder(out) as folder:
        with result.phases.measure("motions"):
            motions = find_motions(folder)
        result.detector.save(folder / "demo.safetensors")
        page = _render(result, scores, pictures, faces, motions)
        (folder / "index.html").write_text(page, encoding="utf-8")
    print(f"face model: {faces.describe()}")
    for name, line in scores.items():
        print(f"{name}: {line}")
    print(f"motions: {motions.describe()}")
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
    from ..wording import count

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
            photo.read(), detections, detector.keypoint_names, object_px=detector.object_px, words=False
        )
        n = len(detections)
        pictures.append((picture, f"{photo.name}: {count(n, 'detection')}"))
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
    result: "TrainingResult",
    scores: dict[str, str],
    pictures: list[tuple["np.ndarray", str]],
    faces: "Faces",
    motions: "Motions",
) -> str:
    from ..output.overlay import COLOURS
    from ..output.page import Page
    from ..output.training_report import add_times, add_training, add_written

    page = Page(
        "Feature selection with annealing",
        "What annealed does, on pictures that come with scikit-image: find faces with the model that ships, "
        "train a detector of your own keypoints, and tell apart what moves in a clip. No GPU, no download.",
    )
    page.heading("Faces, with the model that ships")
    faces.add(page)
    page.heading("A detector of your own")
    page.text(
        f"Trained on {N_TRAINING} photos with one to three faces each, two keypoints at once. The photos are "
        "composed: one astronaut's head, turned, scaled, mirrored and relit, on other pictures. It shows how "
        "training and detection work, not how good a face detector can be."
    )
    page.heading("Found in photos that were not trained on", level=3)
    page.text("Other backgrounds and poses, and at the end the untouched portrait. A circle is a detection.")
    page.key({name: COLOURS[k] for k, name in enumerate(result.detector.keypoint_names)})
    page.pictures(pictures)
    page.table(["keypoint", "result"], list(scores.items()), words=True)
    page.heading("Found in photos held out of the training", level=3)
    add_written(page, result)
    add_training(page, result, level=3)
    page.heading("What moves in a clip")
    page.text(
        "A disc that turns and moves, before a background that pans. Points are tracked through the clip and "
        f"segmented; the number of motions is found, too. Here: {motions.describe()}."
    )
    motions.add(page)
    add_times(page, result)
    return page.render()
