"""One in-memory type for the tables that every file format is read into."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ...features.errors import DataError


@dataclass(frozen=True)
class Table:
    """Rows of values with what is to be predicted from them.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Class labels as the file has them, grades, or one column per label or target.
    name : str
    feature_names : tuple of str or None
        One a column, where the file names them.
    target_names : tuple of str or None
        One a column of a two-dimensional `y`, where the file names them.
    qid : ndarray of shape (n_samples,), int64, or None
        Group of comparable rows, for ranking.
    split : pair of ndarray of int64, or None
        Rows of the official training and test parts.
    """

    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    name: str
    feature_names: tuple[str, ...] | None = None
    target_names: tuple[str, ...] | None = None
    qid: np.ndarray | None = None
    split: tuple[np.ndarray, np.ndarray] | None = None

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or 0 in self.X.shape:
            raise DataError(f"{self.name}: X has shape {self.X.shape}; it must have rows and columns")
        n_samples, n_features = self.X.shape
        for what, found, expected in (
            ("labels", len(self.y), n_samples),
            ("feature names", _length(self.feature_names), n_features),
            ("query numbers", _length(self.qid), n_samples),
        ):
            if found is not None and found != expected:
                raise DataError(f"{self.name}: {found} {what}, expected {expected}")

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows) -> "Table":
        """Return the table of some rows (a slice, a mask or indices), without a split."""
        qid = None if self.qid is None else self.qid[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], qid=qid, split=None)

    @property
    def train(self) -> "Table":
        """The official training rows."""
        return self[self._official(0)]

    @property
    def test(self) -> "Table":
        """The official test rows."""
        return self[self._official(1)]

    def _official(self, part: int) -> np.ndarray:
        if self.split is None:
            raise DataError(f"{self.name} has no official split")
        return self.split[part]


def join(train: Table, test: Table) -> Table:
    """Put two parts with the same columns into one table, with the split between them.

    Query numbers of the second part are moved behind those of the first.
    """
    if train.X.shape[1] != test.X.shape[1]:
        raise DataError(
            f"{train.name} has {train.X.shape[1]} columns and {test.name} has {test.X.shape[1]}; "
            "parts of one table must agree"
        )
    stack = sparse.vstack if sparse.issparse(train.X) else np.vstack
    qid = None
    if train.qid is not None and test.qid is not None:
        qid = np.concatenate([train.qid, test.qid + train.qid.max() + 1])
    return replace(
        train,
        X=stack([train.X, test.X]),
        y=np.concatenate([train.y, test.y]),
        qid=qid,
        split=(np.arange(len(train)), np.arange(len(train), len(train) + len(test))),
    )


def _length(values) -> int | None:
    return None if values is None else len(values)


def whole_or_real(values: np.ndarray) -> np.ndarray:
    """Return numbers as int64 where all are whole, as float64 otherwise."""
    values = np.asarray(values, dtype=np.float64)
    whole = np.isfinite(values).all() and (values % 1 == 0).all() and np.abs(values).max(initial=0) < 2**53
    return values.astype(np.int64) if whole else values
