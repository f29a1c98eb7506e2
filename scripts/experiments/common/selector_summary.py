"""The tables that `reproduce_selectors.py` prints of its measurements."""

from collections import Counter

import numpy as np

from annealed.models.selection.comparison import stability
from common.results import markdown_table, numbers, seconds, with_error
from common.selector_tasks import MEASURES

ALL = "all"


def print_table(results, name: str, methods, ks) -> None:
    """Print one table's methods and sizes, then what was left out and why."""
    rows = results.select(table=name)
    if not rows:
        return
    lines = []
    for method in methods:
        for k in [ALL] if method == ALL else ks:
            found = measured(rows, method, k)
            if found:
                lines.append(
                    [
                        method,
                        k,
                        f"{numbers(found, 'n_selected').mean():.1f}",
                        with_error(numbers(found, "score"), 3),
                        with_error(numbers(found, "own"), 3),
                        steadiness(found),
                        seconds(numbers(found, "seconds").mean()),
                    ]
                )
    n_folds = len({row["fold"] for row in rows})
    print(
        f"\n### {name} ({rows[0]['n_rows']} x {rows[0]['n_columns']}, {rows[0]['kind']}; {n_folds} folds)\n"
    )
    measure = MEASURES[rows[0]["kind"]]
    print(markdown_table(["method", "k", "features", measure, "own model", "stability", "s"], lines))
    problems = Counter((row["method"], row["problem"]) for row in rows if row["problem"])
    for (method, problem), count in problems.items():
        if method in methods:
            print(f"\n`{method}`, {count} measurements left out: {problem}.")


def measured(rows, method: str, k: str) -> list[dict]:
    """Return the rows of a method and size that have a score."""
    return [row for row in rows if row["method"] == method and row["k"] == k and not row["problem"]]


def steadiness(rows) -> str:
    """Write the stability of the selections of some folds, or a dash for fewer than two."""
    if len(rows) < 2 or not rows[0]["selected"]:
        return "-"
    masks = np.zeros((len(rows), int(rows[0]["n_columns"])), dtype=bool)
    for mask, row in zip(masks, rows, strict=True):
        mask[np.array(row["selected"].split(), dtype=np.int64)] = True
    return f"{stability(masks):.2f}"


def print_overall(results, names, methods, k: str) -> None:
    """Print each method's mean place, score and stability, and its median time, at one size.

    Only tables count on which the method was measured in every fold. A place is among the methods that were
    measured on the table, 1 for the best score; equal ones share a place.
    """
    scores: dict[str, dict[str, list[dict]]] = {}
    for name in names:
        rows = results.select(table=name)
        n_folds = len({row["fold"] for row in rows})
        by_method = {method: measured(rows, method, ALL if method == ALL else k) for method in methods}
        scores[name] = {
            method: found for method, found in by_method.items() if found and len(found) == n_folds
        }
    lines = []
    for method in methods:
        where = [name for name in names if method in scores[name] and len(scores[name]) > 1]
        if not where:
            continue
        found = [scores[name][method] for name in where]
        steady = [float(text) for text in map(steadiness, found) if text != "-"]
        lines.append(
            [
                method,
                str(len(where)),
                f"{np.mean([place(scores[name], method) for name in where]):.1f}",
                f"{np.mean([numbers(rows, 'score').mean() for rows in found]):.3f}",
                f"{np.mean(steady):.2f}" if steady else "-",
                seconds(float(np.median([numbers(rows, "seconds").mean() for rows in found]))),
            ]
        )
    if lines:
        lines.sort(key=lambda line: float(line[2]))
        print(f"\n### All tables, k = {k}\n")
        print(
            markdown_table(["method", "tables", "mean place", "mean score", "stability", "median s"], lines)
        )


def place(scores: dict[str, list[dict]], method: str) -> float:
    """Return the place of a method's mean score among all, 1 for the best; ties share theirs."""
    means = {name: numbers(rows, "score").mean() for name, rows in scores.items()}
    better = sum(mean > means[method] for mean in means.values())
    equal = sum(mean == means[method] for mean in means.values())
    return better + (equal + 1) / 2
