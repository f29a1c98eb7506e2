"""Tracks of simulated streets, seen from a car that drives: rigid motions under strong perspective.

Training scenes beside those of a benchmark whose cameras are nearly affine and whose clips are short. Points
lie on the street, on houses to both sides and on the visible faces of cars; the camera drives forward and
turns a little. Metres and frames; x to the right, y down, z ahead.
"""

import numpy as np

from annealed.models.motion.disturbances import LabelledTracks

N_SCENES = 50
WIDTH, HEIGHT, FOCAL_PX = 1240, 376, 720.0
CAMERA_HEIGHT = 1.6
NEAREST = 2.0
CAR = np.array([1.8, 1.5, 4.2])
LEAST_VISIBLE = 5
LEAST_OF_A_MOTION = 10
MOST_ATTEMPTS = 50


def driving_scene(number: int) -> LabelledTracks:
    """Simulate one street.

    Parameters
    ----------
    number : int
        Of the scene; seeds its draws.

    Returns
    -------
    LabelledTracks
        Of two to four motions in 10 to 25 frames, the street's first. Tracks begin and end with what is in
        the picture, and many besides.
    """
    for attempt in range(MOST_ATTEMPTS):
        rng = np.random.default_rng([3, number, attempt])
        tracks = _scene(rng, n_cars=1 + (number + attempt) % 3)
        if tracks is not None:
            return tracks
    raise AssertionError("a scene with enough visible tracks is soon found")


def _scene(rng: np.random.Generator, n_cars: int) -> LabelledTracks | None:
    n_frames = int(rng.integers(10, 26))
    poses = _drive(rng, n_frames)
    parts = [_project(np.repeat(_street(rng)[:, None], n_frames, axis=1), poses)]
    for _ in range(n_cars):
        parts.append(_project(_car(rng, n_frames), poses))
    parts = [_ended_early(rng, points, visible) for points, visible in parts]
    if min(len(points) for points, _ in parts) < LEAST_OF_A_MOTION:
        return None
    positions = np.concatenate([points for points, _ in parts])
    visible = np.concatenate([shown for _, shown in parts])
    labels = np.repeat(np.arange(len(parts)), [len(points) for points, _ in parts])
    noise = rng.normal(0, rng.uniform(0.1, 0.6), positions.shape)
    return LabelledTracks(np.where(visible[:, :, None], positions + noise, 0.0), visible, labels)


def _ended_early(
    rng: np.random.Generator, points: np.ndarray, visible: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """End most tracks early, and drop those that are not visible long enough."""
    n, n_frames = visible.shape
    length = rng.integers(LEAST_VISIBLE, n_frames + 1, n)
    start = (rng.random(n) * (n_frames - length + 1)).astype(int)
    frames = np.arange(n_frames)
    window = (frames >= start[:, None]) & (frames < (start + length)[:, None])
    window |= np.asarray(rng.random(n) < 0.4)[:, None]
    visible = visible & window
    seen = visible.sum(axis=1) >= LEAST_VISIBLE
    return points[seen], visible[seen]


def _drive(rng: np.random.Generator, n_frames: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rotation (3, 3) and place (3,) of the camera in each frame."""
    speed, turn = rng.uniform(0.2, 1.3), rng.normal(0, 0.006)
    shake = rng.normal(0, 0.001, (n_frames, 2))
    place, poses = np.zeros(3), []
    for f in range(n_frames):
        rotation = _about_y(turn * f + shake[f, 0]) @ _about_x(shake[f, 1])
        poses.append((rotation, place.copy()))
        place = place + speed * (_about_y(turn * f) @ np.array([0.0, 0.0, 1.0]))
    return poses


def _about_y(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def _about_x(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def _street(rng: np.random.Generator) -> np.ndarray:
    """Points of the street and of houses, (n, 3)."""
    n_ground, n_houses = int(rng.integers(60, 160)), int(rng.integers(120, 300))
    depth = np.exp(rng.uniform(np.log(5), np.log(60), n_ground + n_houses))
    side = rng.uniform(6, 14) * np.where(rng.random(n_houses) < 0.5, -1, 1)
    ground = np.column_stack([rng.uniform(-9, 9, n_ground), np.full(n_ground, CAMERA_HEIGHT)])
    houses = np.column_stack([side + rng.normal(0, 0.7, n_houses), rng.uniform(-6, CAMERA_HEIGHT, n_houses)])
    return np.column_stack([np.concatenate([ground, houses]), depth])


def _car(rng: np.random.Generator, n_frames: int) -> np.ndarray:
    """Points of a car that drives, (n, F, 3): along the street either way, or across."""
    n = int(rng.integers(20, 60))
    box = rng.uniform(-0.5, 0.5, (n, 3)) * CAR
    back = rng.random(n) < 0.6
    box[back, 2] = -0.5 * CAR[2]  # towards the camera
    box[~back, 0] = 0.5 * CAR[0] * rng.choice([-1, 1])
    heading = rng.choice([0.0, np.pi, 0.5 * np.pi, -0.5 * np.pi], p=[0.5, 0.25, 0.125, 0.125])
    heading += rng.normal(0, 0.1)
    start = np.array([rng.uniform(-6, 6), CAMERA_HEIGHT - 0.5 * CAR[1], rng.uniform(8, 30)])
    speed, turn = rng.uniform(0.2, 1.5), rng.normal(0, 0.015)
    frames = []
    place = start
    for f in range(n_frames):
        turned = box @ _about_y(heading + turn * f).T
        frames.append(turned + place)
        place = place + speed * (_about_y(heading + turn * f) @ np.array([0.0, 0.0, 1.0]))
    return np.stack(frames, axis=1)


def _project(points: np.ndarray, poses: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Pixels (n, F, 2) of points (n, F, 3), and which are in front of the camera and in the picture."""
    pixels, visible = np.zeros((*points.shape[:2], 2)), np.zeros(points.shape[:2], dtype=bool)
    for f, (rotation, place) in enumerate(poses):
        own = (points[:, f] - place) @ rotation
        ahead = own[:, 2] > NEAREST
        pixels[:, f] = FOCAL_PX * own[:, :2] / np.where(ahead, own[:, 2], 1)[:, None]
        pixels[:, f] += np.array([WIDTH, HEIGHT]) / 2
        inside = np.all((pixels[:, f] >= 0) & (pixels[:, f] < [WIDTH, HEIGHT]), axis=1)
        visible[:, f] = ahead & inside
    return pixels, visible
