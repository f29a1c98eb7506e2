"""What rank-segmentations reads and writes: tracks or videos in, tables of candidates out."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...datasets import videos
from ...datasets.tracks.hopkins import video_of
from ...datasets.tracks.track_files import encode_csv
from ...datasets.tracks.track_inputs import read_tracks
from ...datasets.tracks.tracks import Tracks
from ...datasets.tracks.video_tracks import track_video
from ...models.motion import Segmentation, disagreement

CANDIDATE_COLUMNS = ("rank", "score", "generator", "parameters", "disagreement")


@dataclass(frozen=True)
class Input:
    """Tracks and where they come from.

    Attributes
    ----------
    path : Path
    tracks : Tracks
    video : Path or None
        The video that the tracks belong to.
    n_lost, n_dropped : int
        Of tracking; see `VideoTracks`. Zero for a file of tracks.
    """

    path: Path
    tracks: Tracks
    video: Path | None
    n_lost: int = 0
    n_dropped: int = 0


def read_input(
    path: Path,
    *,
    n_points: int,
    first_frame: int,
    n_frames: int | None,
    report: Callable[[str, int, int], None],
) -> Input:
    """Read a file of tracks, or track a video."""
    if path.suffix.lower() in videos.EXTENSIONS:
        found = track_video(
            path, n_points=n_points, first_frame=first_frame, n_frames=n_frames, report=report
        )
        return Input(path, found.tracks, path, found.n_lost, found.n_dropped)
    tracks = read_tracks(path)
    return Input(path, tracks, _video_of_hopkins(path, tracks) if path.suffix.lower() == ".mat" else None)


def _video_of_hopkins(path: Path, tracks: Tracks) -> Path | None:
    """The video that lies beside a Hopkins 155 sequence: `cars3/cars3.avi`, also for `cars3_g12`."""
    video = video_of(tracks.name)
    places = path.with_name(f"{video}.avi"), path.parent.parent / video / f"{video}.avi"
    return next((place for place in places if place.is_file()), None)


def candidate_rows(result: Segmentation) -> list[dict[str, Any]]:
    """One dictionary a candidate, best first; "disagreement" is the share of tracks unlike the best."""
    best = result.ranking.best.labels
    return [
        {
            "rank": rank,
            "score": round(float(score), 4),
            "generator": candidate.generator,
            "parameters": {name: _plain(value) for name, value in candidate.parameters.items()},
            "disagreement": round(disagreement(candidate.labels, best), 4),
        }
        for rank, (candidate, score) in enumerate(
            zip(result.ranking.candidates, result.ranking.scores, strict=True), start=1
        )
    ]


def _plain(value: Any) -> Any:
    """A NumPy number as Python's, which JSON can hold."""
    return value.item() if isinstance(value, np.generic) else value


def parameter_text(parameters: dict[str, Any]) -> str:
    """Parameters as `d=4 alpha=2`."""
    return " ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in parameters.items()
    )


def summary(source: Input, result: Segmentation) -> dict[str, Any]:
    """Return what was found in one input, as JSON values."""
    labels, counts = np.unique(result.labels[result.labels >= 0], return_counts=True)
    document: dict[str, Any] = {
        "input": str(source.path),
        "tracks": len(source.tracks),
        "frames": source.tracks.n_frames,
        "complete": int(result.complete.sum()),
        "by_subspace": int(result.by_subspace.sum()),
        "unlabelled": result.n_unlabelled,
        "lost": source.n_lost,
        "dropped": source.n_dropped,
        "motions": dict(zip(map(str, labels.tolist()), counts.tolist(), strict=True)),
        "candidates": candidate_rows(result),
    }
    if source.tracks.labels is not None:
        document["error_of_best"] = _error(result.labels, source.tracks.labels)
    return document


def _error(labels: np.ndarray, truth: np.ndarray) -> float | None:
    """Share of labelled tracks that differ from the input's own labels, outliers not counted."""
    known = (labels >= 0) & (truth >= 0)
    return round(disagreement(labels[known], truth[known]), 4) if known.any() else None


def summary_text(document: dict[str, Any]) -> str:
    """Lay a summary out as a table for a person."""
    sizes = ", ".join(f"motion {label}: {count}" for label, count in document["motions"].items())
    parts = [f"{document['complete']} complete"]
    parts += [f"{document['by_subspace']} by the nearest subspace"] if document["by_subspace"] else []
    parts += [f"{document['unlabelled']} too short to label"] if document["unlabelled"] else []
    n_tracks, n_frames = document["tracks"], document["frames"]
    lines = [
        f"{document['input']}: {n_tracks} tracks of {n_frames} frames ({', '.join(parts)})",
        f"  {sizes}",
    ]
    if document["lost"] or document["dropped"]:
        lines.append(
            f"  tracking: {document['lost']} tracks end early, {document['dropped']} more were too short "
            "and are left out"
        )
    if document.get("error_of_best") is not None:
        lines.append(f"  differs from the labels in the file on {100 * document['error_of_best']:.2f} %")
    lines.append(f"  {'rank':>4}  {'score':>9}  {'differs':>7}  candidate")
    for row in document["candidates"]:
        name = f"{row['generator']} {parameter_text(row['parameters'])}".rstrip()
        lines.append(f"  {row['rank']:>4}  {row['score']:>9.3f}  {100 * row['disagreement']:>6.1f}%  {name}")
    return "\n".join(lines)


def candidates_csv(document: dict[str, Any]) -> str:
    """Return the candidates of a summary as CSV."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CANDIDATE_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in document["candidates"]:
        writer.writerow({**row, "parameters": parameter_text(row["parameters"])})
    return stream.getvalue()


def write_results(folder: Path, name: str, source: Input, result: Segmentation) -> None:
    """Write the tracks with their labels, and the candidates as CSV and, with their labels, as JSON.

    Labels of candidates are null for tracks that are not complete: those were not segmented.
    """
    document = summary(source, result)
    labelled = encode_csv(replace(source.tracks, labels=result.labels))
    (folder / f"{name}.tracks.csv").write_bytes(labelled)
    (folder / f"{name}.candidates.csv").write_text(candidates_csv(document), encoding="utf-8")
    places = np.flatnonzero(result.complete).tolist()
    for row, candidate in zip(document["candidates"], result.ranking.candidates, strict=True):
        labels: list[int | None] = [None] * len(source.tracks)
        for place, label in zip(places, candidate.labels.tolist(), strict=True):
            labels[place] = label
        row["labels"] = labels
    (folder / f"{name}.candidates.json").write_text(json.dumps(document) + "\n", encoding="utf-8")
