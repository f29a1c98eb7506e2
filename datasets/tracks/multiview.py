"""Tracks in a MATLAB struct `Data`: KT3DMoSeg, the twelve additional Hopkins sequences, MTPV.

- X. Xu, L.-F. Cheong, Z. Li. Motion Segmentation by Exploiting Complementary Geometric Models. CVPR 2018.
- R. Vidal, R. Tron, R. Hartley. Multiframe Motion Segmentation with Missing Data Using PowerFactorization
  and GPCA. IJCV 79(1), 2008. The missing entries have been filled in, so that every track is complete.
- Z. Li, J. Guo, L.-F. Cheong, S. Z. Zhou. Perspective Motion Segmentation via Collaborative Clustering.
  ICCV 2013. Label 0 marks an outlier.

Fields: `ySparse` (3, P, F), homogeneous pixels, zero where a point is not visible; `visibleSparse` (P, F),
absent where all are; `GtLabel` (P, 1) from 1; `Name`, absent in KT3DMoSeg.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from ..mat_files import load_mat, track_labels, track_positions
from .tracks import Tracks

OUTLIER = 0


def read_multiview(path: str | os.PathLike) -> Tracks:
    """Read one `*_Tracks.mat` file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Tracks
        Labels from 0, -1 for an outlier. The frame size is not known.

    Raises
    ------
    DataError
        If the file cannot be read, or its struct lacks a field or has one of the wrong shape.
    """
    path = Path(path)
    data = _struct(path, load_mat(path))
    missing = {"ySparse", "GtLabel"} - set(data)
    if missing:
        raise DataError(f"{path}: the struct Data has no field {sorted(missing)[0]!r}")
    positions = track_positions(path, "ySparse", data["ySparse"])
    labels = track_labels(path, "GtLabel", data["GtLabel"], len(positions))
    motions = np.unique(labels[labels != OUTLIER])
    return Tracks(
        positions,
        visible=_visibility(path, data),
        labels=np.where(labels == OUTLIER, -1, np.searchsorted(motions, labels)),
        name=path.stem.removesuffix("_Tracks"),
    )


def _struct(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    data = content.get("Data")
    if not (isinstance(data, list) and len(data) == 1 and isinstance(data[0], dict)):
        raise DataError(f"{path}: no struct named Data; it has {', '.join(sorted(content)) or 'nothing'}")
    return data[0]


def _visibility(path: Path, data: dict[str, Any]) -> np.ndarray:
    """The mask of the file; without one, what has homogeneous coordinates."""
    y = data["ySparse"]
    if "visibleSparse" not in data:
        return np.asarray(y[2] != 0) if len(y) == 3 else np.ones(y.shape[1:], dtype=bool)
    visible = np.asarray(data["visibleSparse"])
    if visible.shape != y.shape[1:] or visible.dtype.kind not in "biuf":
        raise DataError(f"{path}: visibleSparse has shape {visible.shape}, expected {y.shape[1:]} numbers")
    return np.asarray(visible != 0)
