"""Rankers on a table of graded rows in queries: ours, LambdaMART by LightGBM and XGBoost.

    python scripts/experiments/reproduce_ranking.py [--data DIR] [--folds 5] [--ks 10,30]

DIR holds the folder `selection` (default: the environment variable ANNEALED_DATA), of whose tables `ranking`
has queries. Queries are whole within a fold; printed are NDCG at 10 with its standard error over the folds,
the features used, and the processor's seconds of a fit on one thread; before them, versions of the peers.
"""

import argparse
import importlib.util
import os
import time
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
from common.results import markdown_table, seconds, with_error
from common.selector_tasks import mean_ndcg
from sklearn.model_selection import GroupKFold
from threadpoolctl import threadpool_limits

from annealed.datasets.tables.selection_sets import load_selection
from annealed.features.threads import set_num_threads
from annealed.models import FSARanker, RankBoost

N_TREES = 100


def our_rankers(ks):
    """Return functions of X, y and qid that fit our rankers, by name."""
    rankers = {}
    for k in ks:
        for response in ("linear", "piecewise"):
            rankers[f"FSARanker, {response}, k = {k}"] = FSARanker(k, response=response).fit
    for n_rounds in (30, 100, 300):
        rankers[f"RankBoost, {n_rounds} rounds"] = RankBoost(n_rounds).fit
    return rankers


def peers():
    """Return functions of X, y and qid that fit the peers that are installed, by name."""
    rankers = {}
    if importlib.util.find_spec("lightgbm"):
        rankers["LightGBM lambdarank"] = fit_lightgbm
    if importlib.util.find_spec("xgboost"):
        rankers["XGBoost rank:ndcg"] = fit_xgboost
    return rankers


def fit_lightgbm(X, y, qid):
    from lightgbm import LGBMRanker

    model = LGBMRanker(n_estimators=N_TREES, n_jobs=1, random_state=0, verbose=-1)
    return model.fit(X, y.astype(int), group=np.unique(qid, return_counts=True)[1])


def fit_xgboost(X, y, qid):
    from xgboost import XGBRanker

    model = XGBRanker(objective="rank:ndcg", n_estimators=N_TREES, n_jobs=1, random_state=0)
    return model.fit(X, y.astype(int), qid=qid)


def n_used(model, n_features):
    """Return how many features a ranker looks at."""
    if hasattr(model, "support_"):
        return int(model.support_.sum())
    return int(np.count_nonzero(model.feature_importances_[:n_features]))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ANNEALED_DATA", ".")))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--ks", default="10,30")
    arguments = parser.parse_args(arguments)
    table = load_selection("ranking", arguments.data / "selection")
    order = np.argsort(table.qid, kind="stable")  # the peers want the rows of a query side by side
    X, y, qid = table.X[order].toarray(), table.y[order].astype(np.float64), table.qid[order]
    rankers = our_rankers([int(k) for k in arguments.ks.split(",")]) | peers()
    installed = [name for name in ("lightgbm", "xgboost") if importlib.util.find_spec(name)]
    print(", ".join(f"{name} {version(name)}" for name in installed))
    found = defaultdict(list)
    set_num_threads(1)
    with threadpool_limits(1):
        splitter = GroupKFold(arguments.folds, shuffle=True, random_state=0)
        for train, test in splitter.split(X, groups=qid):
            for name, fit in rankers.items():
                started = time.process_time()
                model = fit(X[train], y[train], qid=qid[train])
                elapsed = time.process_time() - started
                score = mean_ndcg(y[test], model.predict(X[test]), qid[test])
                found[name].append((score, n_used(model, X.shape[1]), elapsed))
    lines = []
    for name, rows in found.items():
        scores, used, times = np.array(rows).T
        lines.append([name, with_error(scores, 3), f"{used.mean():.0f}", seconds(float(np.median(times)))])
    print(markdown_table(["ranker", "NDCG@10", "features", "s"], lines))


if __name__ == "__main__":
    main()
