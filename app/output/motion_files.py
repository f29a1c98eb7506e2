"""What rank-segmentations reads and writes: tracks or videos in, tables of candidates out."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...datasets import videos
from ...datasets.tracks.hopkins import video_of
from ...datasets.tracks.track_files import encode_csv, encode_napari, encode_npz
from ...datasets.tracks.track_inputs import TRACK_ENDINGS, read_tracks
from ...datasets.tracks.tracks import Tracks
from ...datasets.tracks.video_tracks import track_video
from ...features.errors import DataError
from ...models.motion import Segmentation, disagreement

DOUBTFUL = 0.8  # less of the candidates' weight than this gives a track its label
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


def find_motion_inputs(paths: Sequence[Path]) -> list[Path]:
    """List the files that paths name, each once: a folder stands for the tracks, or videos, in it.

    Of a folder with sequences of Hopkins 155, or of one of its sequences, these are taken, not their videos.

    Raises
    ------
    DataError
        If a folder holds neither.
    """
    found: dict[Path, None] = {}
    for path in paths:
        found.update(dict.fromkeys(_in_folder(path) if path.is_dir() else [path]))
    return list(found)


def _in_folder(folder: Path) -> list[Path]:
    for pattern in "*_truth.mat", "*/*_truth.mat":
        if sequences := sorted(folder.glob(pattern)):
            return sequences
    accepted = TRACK_ENDINGS + videos.EXTENSIONS
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in accepted and path.is_file())
    if not files:
        raise DataError(
            f"{folder}: neither tracks nor a video in this folder (accepted: {', '.join(accepted)})"
        )
    return files


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
    margin = result.ranking.margin
    document: dict[str, Any] = {
        "input": str(source.path),
        "tracks": len(source.tracks),
        "frames": source.tracks.n_frames,
        "windows": [list(window) for window in result.windows],
        "cuts": [source.tracks.frame_offset + frame for frame in result.cuts],
        "ranked": int(result.ranked.sum()),
        "joined": int(result.joined.sum()),
        "outliers": int(result.outlier.sum()),
        "doubtful": int(np.sum((result.labels >= 0) & (result.confidence < DOUBTFUL))),
        "unlabelled": result.n_unlabelled,
        "lost": source.n_lost,
        "dropped": source.n_dropped,
        "motions": dict(zip(map(str, labels.tolist()), counts.tolist(), strict=True)),
        "margin": round(margin, 4) if np.isfinite(margin) else None,
        "number_scores": {str(n): round(score, 4) for n, score in result.ranking.number_scores.items()},
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
    parts = [f"{document['ranked']} in the candidates"]
    parts += [f"{document['joined']} joined to the motion they fit"] if document["joined"] else []
    parts += [f"{document['outliers']} outliers"] if document["outliers"] else []
    parts += [f"{document['doubtful']} doubtful"] if document["doubtful"] else []
    parts += [f"{document['unlabelled']} too short to label"] if document["unlabelled"] else []
    n_tracks, n_frames = document["tracks"], document["frames"]
    lines = [
        f"{document['input']}: {n_tracks} tracks of {n_frames} frames ({', '.join(parts)})",
        f"  {sizes}" + ("" if document["margin"] is None else f"; margin {document['margin']:.2f}"),
    ]
    if document["number_scores"]:
        scores = ", ".join(f"{n}: {score:.2f}" for n, score in document["number_scores"].items())
        lines.append(f"  number of motions found; scores of each: {scores}")
    if document["cuts"]:
        frames = ", ".join(map(str, document["cuts"]))
        lines.append(f"  cuts: hardly a track goes on into frame {frames}; each shot has motions of its own")
    if len(document["windows"]) > 1:
        lines.append(
            f"  segmented in {len(document['windows'])} windows of frames; candidates of the first one"
        )
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


def write_results(
    folder: Path, name: str, source: Input, result: Segmentation, formats: Sequence[str] = ("csv",)
) -> None:
    """Write the tracks with their labels, and the candidates as CSV and, with their labels, as JSON.

    Labels of candidates are null for tracks that no candidate was made of.

    Parameters
    ----------
    folder : Path
    name : str
        What the files' names begin with.
    source : Input
    result : Segmentation
    formats : sequence of {"csv", "npz", "napari"}
        Of the tracks: NAME.tracks.csv, NAME.tracks.npz (with confidence), NAME.napari.csv.
    """
    document = summary(source, result)
    labelled = replace(source.tracks, labels=result.labels)
    for kind in formats:
        if kind in TRACK_FORMATS:
            ending, encode = TRACK_FORMATS[kind]
            (folder / f"{name}{ending}").write_bytes(encode(labelled, result))
    (folder / f"{name}.candidates.csv").write_text(candidates_csv(document), encoding="utf-8")
    places = np.flatnonzero(result.ranked).tolist() if len(result.windows) == 1 else []
    for row, candidate in zip(document["candidates"], result.ranking.candidates, strict=True):
        labels: list[int | None] = [None] * len(source.tracks)
        for place, label in zip(places, candidate.labels.tolist(), strict=False):
            labels[place] = label
        row["labels"] = labels
    (folder / f"{name}.candidates.json").write_text(json.dumps(document) + "\n", encoding="utf-8")


TRACK_FORMATS: dict[str, tuple[str, Callable[[Tracks, Segmentation], bytes]]] = {
    "csv": (".tracks.csv", lambda tracks, result: encode_csv(tracks)),
    "npz": (
        ".tracks.npz",
        lambda tracks, result: encode_npz(tracks, confidence=result.confidence, outlier=result.outlier),
    ),
    "napari": (".napari.csv", lambda tracks, result: encode_napari(tracks)),
}
"""Ending of the file and its contents."""
