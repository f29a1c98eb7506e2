"""A source of rows of one's own: several `.npy` files, one below the other.

>>> import tempfile
>>> from pathlib import Path
>>> import numpy as np
>>> from annealed.models.annealing import anneal
>>> from annealed.models.designs import BlockDesign
>>> from annealed.models.losses import SquaredError
>>> from annealed.models.schedules import InverseSchedule
>>> X = np.random.default_rng(0).standard_normal((900, 50))
>>> y = 3 * X[:, 4] - 2 * X[:, 17]
>>> with tempfile.TemporaryDirectory() as folder:
...     paths = [Path(folder) / f"{part}.npy" for part in "abc"]
...     for path, piece in zip(paths, np.split(X, [200, 500])):
...         np.save(path, piece)
...     rows = StackedFiles(paths)
...     design = BlockDesign(rows.read, rows.n_rows, rows.n_features, dtype=rows.dtype, memory_budget=100_000)
...     result = anneal(design, SquaredError(y), None, InverseSchedule(k=2))
>>> rows.shape, rows.place(650)
((900, 50), 'c.npy, row 150')
>>> result.kept, result.beta.ravel().round(2)
(array([ 4, 17]), array([ 3., -2.]))
"""

from pathlib import Path

import numpy as np

from annealed.datasets.rows import NpyRows, RowSource
from annealed.features.errors import DataError


class StackedFiles(RowSource):
    """Rows of several files.

    Parameters
    ----------
    paths : sequence of Path
        ``.npy`` files with the same number of columns.
    """

    def __init__(self, paths) -> None:
        self.files = [NpyRows(path) for path in paths]
        self.name = f"{len(self.files)} files"
        self.n_features = self.files[0].n_features
        if any(file.n_features != self.n_features for file in self.files):
            raise DataError(f"{self.name}: not all have {self.n_features} columns")
        self.dtype = np.result_type(*(file.dtype for file in self.files))
        self.starts = np.cumsum([0, *(file.n_rows for file in self.files)])
        self.n_rows = int(self.starts[-1])

    def read(self, start, stop, columns=None):
        pieces = []
        for file, first in zip(self.files, self.starts[:-1].tolist(), strict=True):
            low, high = max(start, first), min(stop, first + file.n_rows)
            if low < high:
                pieces.append(file.read(low - first, high - first, columns))
        return np.concatenate(pieces).astype(self.dtype, copy=False)

    def place(self, row):
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return f"{Path(self.files[number].name).name}, row {row - self.starts[number]}"
