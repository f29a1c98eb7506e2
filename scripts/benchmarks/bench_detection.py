"""Time detection beside other detectors and beside the naive full sum, in one run.

    python scripts/benchmarks/bench_detection.py --model MODEL [--photo PHOTO] [--seconds 2]

Prints a Markdown table for photos of 640 x 480 and 1280 x 960 pixels: milliseconds a photo for all
keypoints of the model on one and on two threads, and for whatever else is installed: OpenCV's Haar
cascade for eyes (`opencv-python` below 5; later versions ship none), dlib's face detector, and mediapipe's
face detector. Then windows a second for each core in the scan alone, maps included, at the thresholds and at
0: where all are scored, as in mining, and where some are, to find all, as in detection; and how many times
longer the full sums of all windows take. Each figure is the best of as many runs as fit into `--seconds`,
after one that compiles.

`opencv-python` 5 has no cascades: for that column make an environment of its own,

    python -m venv /tmp/peers && /tmp/peers/bin/pip install . "opencv-python-headless<5" dlib
"""

import argparse
import platform
import time
from pathlib import Path

import cv2
import numba
import numpy as np

from annealed.datasets.photos.images import read_image
from annealed.datasets.photos.sample_photos import load_astronaut
from annealed.features.threads import set_num_threads
from annealed.models import load_model
from annealed.models.keypoints.scan import scan_photo

SIZES = ((640, 480), (1280, 960))


def best_time(function, seconds, clock=time.perf_counter):
    """Return the seconds of the fastest run after the first."""
    function()
    fastest, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end or fastest == np.inf:
        start = clock()
        function()
        fastest = min(fastest, clock() - start)
    return fastest


def eye_cascade():
    """OpenCV's Haar cascade for eyes, where this OpenCV has it."""
    if not hasattr(cv2, "CascadeClassifier"):
        return None
    path = Path(cv2.data.haarcascades) / "haarcascade_eye.xml"
    if not path.is_file():
        return None
    cascade = cv2.CascadeClassifier(str(path))
    return lambda photo: cascade.detectMultiScale(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY), 1.1, 3)


def dlib_faces():
    """dlib's HOG-SVM face detector."""
    try:
        import dlib
    except ImportError:
        return None
    return dlib.get_frontal_face_detector()


def mediapipe_faces():
    """mediapipe's face detector."""
    try:
        from mediapipe.python.solutions.face_detection import FaceDetection
    except ImportError:
        return None
    return FaceDetection(model_selection=1).process


PEERS = {
    "OpenCV eye cascade": eye_cascade,
    "dlib faces": dlib_faces,
    "mediapipe faces": mediapipe_faces,
}


def photo_table(detector, photos, seconds):
    """Milliseconds a photo."""
    columns = [f"{w} x {h}, ms" for w, h in SIZES]
    rows = []
    for threads in (1, 2):
        set_num_threads(threads)
        cv2.setNumThreads(threads)
        times = [best_time(lambda: detector.detect(photo), seconds) for photo in photos]  # noqa: B023
        name = f"annealed, {len(detector.keypoint_names)} keypoints, {threads} thread{'s' * (threads > 1)}"
        rows.append((name, times))
    for name, load in PEERS.items():
        peer = load()
        if peer is not None:
            rows.append((name, [best_time(lambda: peer(photo), seconds) for photo in photos]))  # noqa: B023
    print("| | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for name, times in rows:
        print(f"| {name} | " + " | ".join(f"{1e3 * t:.1f}" for t in times) + " |")
    missing = [name for name in PEERS if name not in {row[0] for row in rows}]
    if missing:
        print(f"\nNot installed: {', '.join(missing)}.")


def scan_table(detector, photo, seconds):
    """Windows a second and core of the scan, for each classifier's windows counted once."""
    set_num_threads(1)
    cv2.setNumThreads(1)
    levels = detector.pyramid.levels(photo)
    classifiers = detector.classifiers
    windows = len(classifiers) * sum(level.image[..., 0].size for level in levels)
    floors = {"thresholds": [c.threshold for c in classifiers], "0": [0.0] * len(classifiers)}
    naive = best_time(lambda: scan_photo(levels, classifiers, floors["0"], exact=True), 0, time.process_time)
    print("\n| floor | scored | million windows a second and core | full sums take |\n|---|---|---|---|")
    for name, values in floors.items():
        for sparse, scored in ((False, "all"), (True, "some")):
            fast = best_time(
                lambda: scan_photo(levels, classifiers, values, sparse=sparse),  # noqa: B023
                seconds,
                time.process_time,
            )
            print(f"| {name} | {scored} | {windows / fast / 1e6:.1f} | {naive / fast:.0f} times as long |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="model file, or name of a model that ships")
    parser.add_argument("--photo", type=Path, help="photo (default: scikit-image's astronaut)")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each figure")
    arguments = parser.parse_args()
    detector = load_model(arguments.model)
    photo = load_astronaut().read() if arguments.photo is None else read_image(arguments.photo)
    photos = [cv2.resize(photo, size, interpolation=cv2.INTER_AREA) for size in SIZES]
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, numba "
        f"{numba.__version__}, OpenCV {cv2.__version__}; {len(classifier_sizes(detector))} classifiers of "
        f"{', '.join(map(str, classifier_sizes(detector)))} features\n"
    )
    photo_table(detector, photos, arguments.seconds)
    scan_table(detector, photos[0], arguments.seconds)


def classifier_sizes(detector):
    """Number of features of each classifier."""
    return [len(classifier.pool) for classifier in detector.classifiers]


if __name__ == "__main__":
    main()
