"""`annealed select-features`: the k features of a table that matter, and a model on them."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, ARFF, svmlight, .mat or .npz file.")],
    target: Annotated[list[str], typer.Option(help="Column (or variable) to predict; may be repeated.")],
    k: Annotated[int, typer.Option("-k", help="Features to select.")] = 20,
    method: Annotated[str, typer.Option(help="Method; an unknown name lists them all.")] = "fsa",
    out: Annotated[Path, typer.Option(help="Folder for the model and the plot; made if missing.")] = Path(
        "selected"
    ),
    folds: Annotated[int, typer.Option(help="Folds of the cross-validated scores.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
) -> None:
    """Select the k features of a table that matter, and train a model on them.

    Prints the features in order, and the cross-validated score of the selection beside those of all features
    and of k random ones. Text columns and columns with missing values are left out, with a word.
    """
    from ...datasets.tables.named_table import read_table
    from ...features.errors import ParameterError
    from ...models.selection.comparison import Score, compare_each, select
    from ...models.selection.judging import MEASURES, TASKS
    from ...models.selection.registry import make_selector
    from ...models.target_kinds import kind_of
    from ...models.whole_files import check_folder_place, whole_folder
    from ..output.selection_files import plot_scores, save_model, sizes_up_to
    from ..progress import Bars, warn, warn_of_problems

    named = read_table(table, target)
    warn_of_problems(named.left_out)
    data = named.table
    n_features = data.X.shape[1]
    if not 1 <= k <= n_features:
        raise ParameterError(
            f"-k is {k}; {table} has {n_features} features, so 1 to {n_features} are accepted"
        )
    kind = kind_of(data.y)
    make_selector(method, k, task=TASKS[kind])  # raises its errors before the long part
    check_folder_place(out)
    wanted = [method, "random", "all"]
    scores: list[Score] = []
    with Bars() as bars:
        bars.update("methods", 0, len(wanted))
        each = compare_each(data.X, data.y, wanted, sizes_up_to(k), n_folds=folds, seed=seed)
        for done, (_, found, problem) in enumerate(each, start=1):
            if problem:
                raise ParameterError(problem)
            scores += found
            bars.update("methods", done, len(wanted))
    features = select(data.X, data.y, TASKS[kind], method, k, seed)
    assert data.feature_names is not None
    for place, j in enumerate(features.tolist(), start=1):
        print(f"{place}\t{data.feature_names[j]}")
    last = {score.method: score for score in scores}
    for name, label in (
        (method, f"these {len(features)}"),
        ("all", f"all {n_features}"),
        ("random", f"{k} random"),
    ):
        print(f"{MEASURES[kind]} with {label} features: {last[name].mean:.4f}")
    with whole_folder(out) as folder:
        save_model(folder / "model.safetensors", data, features, kind, method, seed)
        plot_scores(folder / "scores.png", scores, kind)
    warn(f"{out / 'model.safetensors'} and {out / 'scores.png'}: written")
