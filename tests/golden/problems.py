"""What `record.py` records and `tests/test_golden.py` runs again: small problems through the public names."""

from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from annealed.models import FSAClassifier, FSARanker, FSARegressor, Piecewise, load_model

FOLDER = Path(__file__).parent

EVEN = Piecewise(n_bins=10, ranges="trimmed")  # the default of version 0.1

ESTIMATORS = {
    "classifier-lorenz": (partial(FSAClassifier, k=5, loss="lorenz"), "binary"),
    "classifier-logistic": (partial(FSAClassifier, k=5, loss="logistic"), "three"),
    "classifier-huber-sparse": (partial(FSAClassifier, k=5, loss="huber"), "sparse"),
    "classifier-piecewise": (partial(FSAClassifier, k=5, loss="logistic", response=EVEN), "curved"),
    "regressor": (partial(FSARegressor, k=5, penalty=None, max_swaps=0), "targets"),
    "regressor-piecewise": (partial(FSARegressor, k=5, response=EVEN), "curved targets"),
    "ranker": (partial(FSARanker, k=5), "grades"),
}


def table(name):
    """Training table, another table, and the arguments of `fit` of one of `ESTIMATORS`."""
    kind = ESTIMATORS[name][1]
    rng = np.random.default_rng(7)
    X, Z = rng.standard_normal((300, 60)), rng.standard_normal((40, 60))
    line = 3 * X[:, 4] - 2 * X[:, 17] + X[:, 30] + 0.3 * rng.standard_normal(300)
    curve = X[:, 4] ** 2 + np.abs(X[:, 17]) - 1.8 + 0.3 * rng.standard_normal(300)
    if kind == "sparse":
        keep = rng.random(X.shape) < 0.3
        X = sparse.csr_array(X * keep)
        line = np.asarray(X[:, [4]].toarray() - X[:, [17]].toarray()).ravel()
    if kind in ("binary", "sparse"):
        return X, Z, {"y": np.where(line > 0, "yes", "no")}
    if kind == "three":
        return X, Z, {"y": np.digitize(line, [-2, 2])}
    if kind == "curved":
        return X, Z, {"y": (curve > 0).astype(int)}
    if kind == "targets":
        return X, Z, {"y": np.stack([line, X[:, 8] - X[:, 4]], axis=1)}
    if kind == "curved targets":
        return X, Z, {"y": curve}
    return X, Z, {"y": np.digitize(line, [-2, 0, 2]), "qid": np.repeat(np.arange(30), 10)}


def responses(estimator, Z):
    """Decision values, predictions or ranks."""
    return estimator.decision_function(Z) if hasattr(estimator, "decision_function") else estimator.predict(Z)


def columns(detections):
    """The arrays of detections that versions share."""
    names = ("x", "y", "scale", "score", "keypoint", "found")
    return {name: getattr(detections, name) for name in names}


def photos():
    from annealed.datasets.photos.sample_photos import make_sample_photos

    return [photo.read() for photo in make_sample_photos(3, split="test", shape=(240, 320)).photos]


def detections():
    """Yield a name, a detector and a photo."""
    for model in ("face", "keypoints", "object"):
        detector = load_model(model if model == "face" else FOLDER / f"{model}.safetensors")
        for number, photo in enumerate(photos()):
            yield f"{model}/{number}", detector, photo


def rigid_motions(seed, n_motions, n_points=25, n_frames=12):
    """Tracks of rigid bodies that turn and move, each on its own, under an orthographic camera."""
    rng = np.random.default_rng(seed)
    tracks = []
    for _ in range(n_motions):
        body = rng.standard_normal((n_points, 3)) * 40
        axis = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        speed, drift = rng.uniform(0.05, 0.15), rng.uniform(-8, 8, 2)
        frames = []
        for f in range(n_frames):
            c, s = np.cos(speed * f), np.sin(speed * f)
            turn = axis @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ axis.T
            frames.append((body @ turn.T)[:, :2] + 300 + drift * f)
        tracks.append(np.stack(frames, axis=1))
    tracks = np.concatenate(tracks)
    return tracks + rng.normal(0, 0.5, tracks.shape)


def rankings():
    """Yield a name and the ranking of the candidates of one set of tracks."""
    ranker = load_model(FOLDER / "hopkins155.safetensors")
    for n_motions in (2, 3):
        yield f"hopkins155/{n_motions}", ranker.rank(rigid_motions(n_motions, n_motions), n_motions)
