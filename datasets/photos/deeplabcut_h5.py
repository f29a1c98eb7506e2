"""Tables of labels in the H5 files of DeepLabCut, which pandas wrote, without running what may be in them.

pandas keeps a table in one of two forms. "fixed" has a set of arrays: the levels of the header and of the
index, their codes, and the values. "table" has one array of records, and its header pickled in an
attribute. A pickle can run any code; this one is read by a reader that knows lists, tuples, strings and
numbers only.
"""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from ..limits import check_memory

CELL_BYTES = 64
"""About what a cell takes in memory, against the budget of `limits`."""
MAX_LEVELS = 10
_NAMES = ("scorer", "individuals", "bodyparts", "coords")


def read_label_table(path: Path) -> tuple[dict[str, list[str]], list[list[str]], np.ndarray]:
    """Read the first table of an H5 file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    header : dict of row name to list of str
        "scorer", "bodyparts", "coords" and, of several animals, "individuals"; one cell a column.
    index : list of list of str
        What names each row: one cell, or several.
    values : ndarray of shape (n_rows, n_columns), float64

    Raises
    ------
    DataError
        If h5py is not installed, the file is not H5, or holds no such table.
    """
    try:
        import h5py
    except ImportError:
        raise DataError(f"{path}: reading H5 takes h5py: pip install 'annealed[deeplabcut]'") from None
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        with h5py.File(path, "r") as file:
            for group in map(_Group, (node for node in file.values() if isinstance(node, h5py.Group))):
                if "table" in group:
                    return _read_records(group)
                if "axis0_level0" in group and "block0_values" in group:
                    return _read_arrays(group)
    except DataError:
        raise
    # What is raised on a damaged file depends on where the damage is.
    except Exception as error:
        reason = error or type(error).__name__
        raise DataError(f"{path}: not a table of DeepLabCut in H5 ({reason})") from None
    raise DataError(f"{path}: no table of labels in this H5 file")


class _Group:
    """Arrays of an H5 group, each checked for where it lies and how much it takes before it is read."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self.attrs = group.attrs

    def __contains__(self, name: str) -> bool:
        return name in self._group

    def __getitem__(self, name: str) -> Any:
        dataset = self._group[name]
        if dataset.file.filename != self._group.file.filename or dataset.external or dataset.is_virtual:
            raise ValueError(f"{name} lies in another file, which is not followed")
        n_bytes = max(CELL_BYTES, dataset.dtype.itemsize) * dataset.size
        check_memory(self._group.file.filename, n_bytes, f"{name}, {' x '.join(map(str, dataset.shape))},")
        return dataset


class _RefusedError(Exception):
    """A pickle holds more than plain values."""


# Python's own reader: that in C makes room for as many values as a pickle says that it will name.
class _PlainUnpickler(pickle._Unpickler):  # type: ignore[name-defined]
    """Reads lists, tuples, strings and numbers; everything else is looked up by name, and refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise _RefusedError(f"its header holds {module}.{name}")


def _plain(data: Any) -> Any:
    return _PlainUnpickler(io.BytesIO(bytes(data))).load()


def _read_arrays(group: Any) -> tuple[dict[str, list[str]], list[list[str]], np.ndarray]:
    """The form "fixed"."""
    header_levels, names = _levels(group, "axis0")
    header = dict(zip(names, map(list, zip(*header_levels, strict=True)), strict=False))
    plain = "axis1" in group
    index = [[text] for text in _texts(group["axis1"])] if plain else _levels(group, "axis1")[0]
    if int(group.attrs.get("nblocks", 1)) != 1:
        raise ValueError("columns of several types")
    values = _values(group["block0_values"])
    if values.shape != (len(index), len(header_levels)):
        raise ValueError(f"{values.shape} values under a header of {len(header_levels)} columns")
    return _named(header, header_levels), index, values


def _levels(group: Any, axis: str) -> tuple[list[list[str]], list[str]]:
    """The cells of each entry of a header or index of several levels, and the levels' names."""
    columns, names, level = [], [], 0
    while level < MAX_LEVELS and f"{axis}_level{level}" in group:
        texts = _texts(group[f"{axis}_level{level}"])
        codes = np.asarray(group[f"{axis}_label{level}"], dtype=np.int64)
        if len(codes) and not (codes.min() >= -1 and codes.max() < len(texts)):
            raise ValueError("broken header")
        columns.append(["" if code < 0 else texts[code] for code in codes])
        name = group[f"{axis}_level{level}"].attrs.get("name", b"")
        names.append(name.decode() if isinstance(name, bytes) else str(name))
        level += 1
    return [list(cells) for cells in zip(*columns, strict=True)], names


def _texts(dataset: Any) -> list[str]:
    if dataset.dtype.kind not in "SOiuf":
        raise ValueError("a header that is not text")
    values = np.asarray(dataset).ravel().tolist()
    if not all(isinstance(value, bytes | str | int | float) for value in values):
        raise ValueError("a header that is not text")  # of other objects pandas keeps pickles
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values]


def _values(dataset: Any) -> np.ndarray:
    if dataset.dtype.kind not in "fiu" or dataset.ndim != 2:
        raise ValueError("values that are not numbers")
    return np.asarray(dataset, dtype=np.float64)


def _read_records(group: Any) -> tuple[dict[str, list[str]], list[list[str]], np.ndarray]:
    """The form "table"."""
    table = group["table"]
    if table.dtype.names is None:
        raise ValueError("no records")
    axes = _plain(group.attrs["non_index_axes"])
    columns = [list(map(_header_cell, cells)) for cells in axes[0][1]]
    records = table[()]
    blocks = [name for name in table.dtype.names if name.startswith("values_block_")]
    if len(blocks) != 1:
        raise ValueError("columns of several types")
    values = np.asarray(records[blocks[0]], dtype=np.float64).reshape(len(records), -1)
    if values.shape[1] != len(columns):
        raise ValueError(f"{values.shape[1]} values under a header of {len(columns)} columns")
    index = [[text.decode("utf-8", "replace")] for text in records["index"].tolist()]
    return _named({}, columns), index, values


def _header_cell(cell: Any) -> str:
    if not isinstance(cell, str | int | float):
        raise ValueError("a header that is not text")
    return str(cell)


def _named(header: dict[str, list[str]], columns: list[list[str]]) -> dict[str, list[str]]:
    """The header's rows by name; rows without names are taken in DeepLabCut's order."""
    if {"bodyparts", "coords"} <= set(header):
        return header
    n_rows = len(columns[0]) if columns else 0
    names = {3: (_NAMES[0], *_NAMES[2:]), 4: _NAMES}.get(n_rows)
    if names is None:
        raise ValueError(f"a header of {n_rows} rows")
    return dict(zip(names, map(list, zip(*columns, strict=True)), strict=True))
