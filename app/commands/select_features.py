"""`annealed select-features`: the k features of a table that matter, and a model on them."""

from pathlib import Path
from typing import Annotated

import typer

from ...features.errors import ParameterError
from ..arguments import ClusterOption, MemoryBudgetOption, OverwriteOption


def command(
    table: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, Parquet, ARFF, svmlight, .mat or .npz file; or, read block by block, a Parquet "
            "folder, a Zarr store, an HDF5 or a .npy file."
        ),
    ],
    target: Annotated[
        list[str],
        typer.Option(
            help="Column (or variable) to predict; may be repeated. Of a table without names, a .npy file."
        ),
    ],
    k: Annotated[int, typer.Option("-k", help="Features to select.")] = 20,
    method: Annotated[str, typer.Option(help="Method; an unknown name lists them all.")] = "fsa",
    out: Annotated[Path, typer.Option(help="Folder for the model and the plot; made if missing.")] = Path(
        "selected"
    ),
    folds: Annotated[
        int,
        typer.Option(
            help="Folds of the cross-validated scores. Of a table that is read block by block, one part in "
            "so many is held out once; 0: no score."
        ),
    ] = 5,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    memory_budget: MemoryBudgetOption = None,
    cluster: ClusterOption = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue an interrupted run on a table that is read block by block.",
            rich_help_panel="Large tables",
        ),
    ] = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Select the k features of a table that matter, and train a model on them.

    Prints the features in order, and the cross-validated score of the selection beside those of all features
    and of k random ones. Text columns and columns with missing values are left out, with a word.

    With --memory-budget or --cluster the table is read block by block and judged on rows held out once.
    """
    from ..row_selection import stays_on_disk

    if memory_budget is None and cluster is None and not stays_on_disk(table):
        if resume:
            raise ParameterError("--resume is for tables that are read block by block")
        _select_in_memory(table, target, k, method, out, folds, seed, overwrite)
    else:
        _select_from_disk(
            table, target, k, method, out, folds, seed, memory_budget, cluster, resume, overwrite
        )


def _select_in_memory(
    table: Path,
    target: list[str],
    k: int,
    method: str,
    out: Path,
    folds: int,
    seed: int,
    overwrite: bool,
) -> None:
    from ...datasets.tables.named_table import read_table
    from ...models.selection.comparison import Score, compare_each, select
    from ...models.selection.judging import MEASURES, TASKS
    from ...models.selection.registry import make_selector
    from ...models.target_kinds import kind_of
    from ...models.whole_files import whole_folder
    from ..output.selection_files import plot_scores, save_model, sizes_up_to
    from ..places import check_new_folder, results_folder
    from ..progress import Bars, warn_of_problems

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
    check_new_folder(out, overwrite)
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
    with results_folder(out, overwrite), whole_folder(out) as folder:
        save_model(folder / "model.safetensors", data, features, kind, method, seed)
        plot_scores(folder / "scores.png", scores, kind)


def _select_from_disk(
    table: Path,
    target: list[str],
    k: int,
    method: str,
    out: Path,
    folds: int,
    seed: int,
    memory_budget: str | None,
    cluster: str | None,
    resume: bool,
    overwrite: bool,
) -> None:
    import shutil

    from ...models.run_states import resumable
    from ...models.selection.judging import MEASURES
    from ...models.whole_files import whole_folder
    from ..cluster import on_cluster
    from ..places import check_new_folder, results_folder
    from ..progress import Bars, warn_of_problems
    from ..row_selection import make_row_selector, open_table, select_from_rows

    found = open_table(table, target)
    warn_of_problems(found.rows.left_out)
    selector = make_row_selector(found, method, k, seed, memory_budget)
    check_new_folder(out, overwrite)
    states = out.with_name(f"{out.name}.run")
    with resumable(states, resume=resume), on_cluster(cluster), Bars() as bars:
        selected = select_from_rows(found, selector, folds, seed, bars.update)
    names = found.rows.feature_names or [f"column {j}" for j in range(found.rows.n_features)]
    for place, j in enumerate(selected.features.tolist(), start=1):
        print(f"{place}\t{names[j]}")
    if selected.score is not None:
        measured = f"{MEASURES[found.kind]} on {selected.n_held_out} rows held out, with"
        print(f"{measured} {len(selected.features)} features: {selected.score:.4f}")
        print(f"{measured} none: {selected.baseline:.4f}")
    with results_folder(out, overwrite), whole_folder(out) as folder:
        kept = [names[j] for j in selected.features.tolist()]
        metadata = {"method": method, "table": table.name, "selected": kept, "seed": seed}
        selected.model.save(folder / "model.safetensors", metadata)
    shutil.rmtree(states, ignore_errors=True)
