"""What a real table asks for (classes, labels, targets or grades), and how a selection is judged for each."""

import numpy as np
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GroupKFold

from annealed.datasets.tables.table import Table
from annealed.models import FSARanker
from annealed.models.selection import judging
from annealed.models.selection.comparison import fit_selection, ordered_support
from annealed.models.target_kinds import kind_of

MEASURES = judging.MEASURES | {"grades": "NDCG@10"}
TASKS = judging.TASKS | {"grades": judging.TASKS["targets"]}
RANKERS = {"fsa": "linear", "fsa-piecewise": "piecewise"}
SEED = 0


class Task:
    """A table's question.

    Parameters
    ----------
    table : Table

    Attributes
    ----------
    kind : {"classes", "labels", "targets", "grades"}
        The target holds classes, 0/1 columns, columns of numbers, or grades within queries.
    target_task : {"classification", "regression"}
        What a single column of it is to a selector.
    """

    def __init__(self, table: Table):
        self.X, self.y = table.X, table.y
        self.kind = kind_of(self.y) if table.qid is None else "grades"
        self.qid = np.zeros(len(self.y), dtype=np.int64) if table.qid is None else table.qid
        self.target_task = TASKS[self.kind]

    def folds(self, rows: np.ndarray, n_folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Cut some rows; return the training and test rows of each fold."""
        if self.kind == "grades":
            splitter = GroupKFold(n_folds, shuffle=True, random_state=SEED)
            parts = list(splitter.split(rows, groups=self.qid[rows]))
        else:
            parts = judging.folds(self.X[rows], self.y[rows], self.kind, n_folds, SEED)
        return [(rows[train], rows[test]) for train, test in parts]

    def select(self, X, train: np.ndarray, method: str, k: int, seed: int):
        """Return the features selected on the training rows, and the method's own model or None."""
        if self.kind == "grades" and method in RANKERS:
            dense = X[train] if method == "fsa" else X[train].toarray()
            ranker = FSARanker(k, response=RANKERS[method]).fit(dense, self.y[train], qid=self.qid[train])
            return ordered_support(ranker, np.ones(X.shape[1])), ranker
        features, model = fit_selection(X[train], self.y[train], self.target_task, method, k, seed)
        return features, model if hasattr(model, "predict") else None

    def judge(self, X, train: np.ndarray, test: np.ndarray) -> float:
        """Return the measure of a ridge model on all columns of X."""
        model = judging.make_judge(X, self.kind)
        return self.score(model.fit(X[train], self.y[train]).predict(X[test]), test)

    def score(self, predicted: np.ndarray, test: np.ndarray) -> float:
        """Return the measure of predictions for the test rows."""
        if self.kind == "grades":
            return mean_ndcg(self.y[test], predicted, self.qid[test])
        return judging.measure(self.kind, self.y[test], predicted)


def mean_ndcg(y: np.ndarray, f: np.ndarray, qid: np.ndarray) -> float:
    """Return NDCG at 10, averaged over the queries with more than one row."""
    groups = [np.flatnonzero(qid == q) for q in np.unique(qid)]
    return float(np.mean([ndcg_score([2.0 ** y[g] - 1], [f[g]], k=10) for g in groups if len(g) > 1]))
