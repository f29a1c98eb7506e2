"""`annealed compare-selectors`: many methods on one table, by cross-validation over k."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..arguments import OverwriteOption
from ..output.tables import FormatOption, TableFormat, print_table

if TYPE_CHECKING:
    from ...models.selection.comparison import Score


def command(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, ARFF, svmlight, .mat or .npz file.")],
    target: Annotated[list[str], typer.Option(help="Column (or variable) to predict; may be repeated.")],
    methods: Annotated[
        str, typer.Option(help="Methods with commas between them; 'auto' is all but the slow ones.")
    ] = "auto",
    k: Annotated[str, typer.Option("-k", help="Sizes with commas between them.")] = "5,10,20,50",
    out: Annotated[Path | None, typer.Option(help="Plot to write, PNG.")] = None,
    folds: Annotated[int, typer.Option(help="Folds.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    table_format: FormatOption = TableFormat.table,
    overwrite: OverwriteOption = False,
) -> None:
    """Compare selectors on a table: score, stability and seconds of each method for each k.

    The selection is made anew on the training rows of each fold; a ridge model on the selected features
    gives the score. A method that cannot be used is named, and the others go on. Ctrl-C ends the comparison,
    and what was measured by then is shown.
    """
    from ...datasets.tables.named_table import read_table
    from ...models.selection.comparison import compare_each
    from ...models.selection.judging import TASKS
    from ...models.selection.registry import method_named, methods_for
    from ...models.target_kinds import kind_of
    from ...models.whole_files import whole_file
    from ..output.selection_files import plot_scores
    from ..places import check_new_file
    from ..progress import Bars, warn, warn_of_problems
    from ..status import ExitStatus, exit_with

    if out is not None:
        check_new_file(out, overwrite)
    named = read_table(table, target)
    warn_of_problems(named.left_out)
    data = named.table
    kind = kind_of(data.y)
    names = methods_for(TASKS[kind]) if methods == "auto" else [name.strip() for name in methods.split(",")]
    for name in names:
        method_named(name)  # refuses an unknown name before the long part
    sizes = _sizes(k, data.X.shape[1])
    scores: list[Score] = []
    problems: list[str] = []
    waiting = [*names, "random", "all"]
    n_methods = len(waiting)
    with Bars() as bars:
        bars.update("methods", 0, n_methods)
        try:
            for name, found, problem in compare_each(
                data.X, data.y, tuple(waiting), sizes, n_folds=folds, seed=seed
            ):
                scores += found
                if problem:
                    problems.append(f"{name}: {problem}")
                waiting.pop(0)
                bars.update("methods", n_methods - len(waiting), n_methods)
        except KeyboardInterrupt:
            pass  # what was measured is shown
    _print_scores(scores, kind, table_format)
    warn_of_problems(problems)
    if out is not None and scores:
        with whole_file(out) as temporary:
            plot_scores(temporary, scores, kind)
        warn(f"{out}: written")
    if waiting:
        raise exit_with(f"interrupted during {waiting[0]}", ExitStatus.INTERRUPTED)


def _print_scores(scores: "list[Score]", kind: str, table_format: TableFormat) -> None:
    from ...models.selection.judging import MEASURES

    columns = ["method", "k", MEASURES[kind], "+-", "stability", "seconds"]
    rows = [[s.method, s.k, s.mean, float(s.scores.std()), s.stability, s.seconds] for s in scores]
    print_table(columns, rows, table_format, ["", "d", ".4f", ".4f", ".2f", ".3f"])


def _sizes(text: str, n_features: int) -> list[int]:
    from ...features.errors import ParameterError

    try:
        sizes = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise ParameterError(f"-k is {text!r}; accepted are whole numbers with commas between them") from None
    usable = [size for size in sizes if 1 <= size <= n_features]
    if not usable or sizes[0] < 1:
        raise ParameterError(f"-k is {text!r}; accepted are sizes from 1 to {n_features}")
    return usable
