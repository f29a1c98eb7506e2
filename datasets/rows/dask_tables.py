"""Rows of Dask arrays and data frames."""

from collections.abc import Sequence

import numpy as np

from ...features.errors import DataError
from .row_source import RowSource, check_matrix, float_dtype, selected


class DaskRows(RowSource):
    """Rows of a Dask array, which is computed block by block where it is read.

    Parameters
    ----------
    array : dask.array.Array of shape (n_rows, n_features)
    name : str
    """

    def __init__(self, array, name: str = "X", feature_names: tuple[str, ...] | None = None) -> None:
        if any(np.isnan(size) for size in array.shape):
            array = array.compute_chunk_sizes()
        self.name = name
        self.n_rows, self.n_features = check_matrix(array.shape, name)
        self.dtype = float_dtype(array.dtype, name)
        self.feature_names = feature_names
        self._array = array

    def read(self, start, stop, columns=None):
        rows = selected(self._array[start:stop], columns)
        return np.asarray(rows.compute(scheduler="synchronous"), dtype=self.dtype)

    def blocks(self, start, stop, size, columns=None):
        """Yield blocks that end where chunks do, so that a chunk of at most `size` rows is computed once."""
        bounds = np.concatenate([[0], np.cumsum(self._array.chunks[0])])
        first = start
        while first < stop:
            ends = bounds[(bounds > first) & (bounds <= first + size)]
            last = min(int(ends[-1]) if len(ends) else first + size, stop)
            yield first, self.read(first, last, columns)
            first = last


class DaskFrameRows(DaskRows):
    """Rows of a Dask data frame; numeric columns are features, as for `ParquetRows`."""

    def __init__(self, frame, exclude: Sequence[str] = (), name: str = "X") -> None:
        for column in exclude:
            if column not in frame.columns:
                raise DataError(
                    f"{name}: no column {column!r}; it has {', '.join(map(str, frame.columns[:10]))}"
                )
        numeric = [c for c in frame.columns if frame.dtypes[c].kind in "buif" and c not in exclude]
        if not numeric:
            raise DataError(f"{name}: no numeric column")
        self._frame = frame
        super().__init__(frame[numeric].to_dask_array(lengths=True), name, tuple(map(str, numeric)))
        self.left_out = tuple(
            f"column {c} is left out: it is not numeric ({frame.dtypes[c]})"
            for c in frame.columns
            if c not in exclude and c not in numeric
        )

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_frame": None}

    def column(self, name):
        values = self._frame[name].compute()
        if values.isna().any():
            raise DataError(f"{self.name}: the target {name!r} has missing values")
        values = values.to_numpy()
        return values.astype(str) if values.dtype.kind == "O" else values
