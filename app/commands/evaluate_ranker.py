"""`annealed evaluate-ranker`: cross-validate the ranker of segmentations over videos."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from ..arguments import FeaturesOption, FormOption, PoolOption, SequenceFolder, SizeOption

if TYPE_CHECKING:
    import numpy as np

    from ...models.motion.experiment import RankingProblem


def command(
    folder: SequenceFolder,
    pool: PoolOption = "paper",
    features: FeaturesOption = "all",
    form: FormOption = "relative",
    k: SizeOption = 40,
    folds: Annotated[int, typer.Option(help="Folds; the sequences of a video stay in one.")] = 10,
    repetitions: Annotated[int, typer.Option(help="Assignments of videos to folds, averaged.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the first assignment.")] = 0,
    boost: Annotated[bool, typer.Option(help="Cross-validate RankBoost on the same features too.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Cross-validate a ranker of motion segmentations, in groups as in Table 7 of the paper.

    Prints misclassification in percent, averaged over the sequences of a group, of the segmentations that
    rank first in training and test, beside choices that nothing is learned for.
    """
    import numpy as np

    from ...features.errors import ParameterError
    from ...models.motion import MotionRanker
    from ...models.motion.experiment import BoostedRanker, assign_folds, baselines, cross_validate
    from ..motion_training import describe_folder
    from ..progress import Bars

    if repetitions < 1:
        raise ParameterError(f"--repetitions is {repetitions}; accepted are whole numbers from 1")
    makers = {"FSARank": lambda: MotionRanker(pool=pool, features=features, form=form, k=k)}
    makers["FSARank"]()  # raises its errors before the long part
    if boost:
        makers["RankBoost"] = lambda: BoostedRanker(form=form)  # type: ignore[assignment, return-value]
    with Bars() as bars:
        described = describe_folder(folder, pool, bars)
        assign_folds([s.video for s in described], seed, folds)
        choices = baselines(described)
        for name, make in makers.items():
            results = []
            for i in range(repetitions):
                bars.update(f"{name}, assignments", i, repetitions)
                results.append(cross_validate(described, make, seed + i, folds))
            bars.update(f"{name}, assignments", repetitions, repetitions)
            choices[f"{name} train"] = np.array([result.train for result in results])
            choices[f"{name} test"] = np.array([result.test for result in results])
    _print_groups(described, choices, as_json)


def _print_groups(described: list["RankingProblem"], choices: dict[str, "np.ndarray"], as_json: bool) -> None:
    """Print one block a group: name, average and median in percent."""
    from ...models.motion.experiment import by_group

    rows = {name: by_group(described, errors) for name, errors in choices.items()}
    groups = rows["oracle"]
    if as_json:
        document = [
            {
                "motions": group.n_motions,
                "category": group.category,
                "sequences": group.n_sequences,
                "percent": {
                    name: {"average": 100 * row[i].average, "median": 100 * row[i].median}
                    for name, row in rows.items()
                },
            }
            for i, group in enumerate(groups)
        ]
        print(json.dumps(document, indent=2))
        return
    for i, group in enumerate(groups):
        print(f"{group_title(group.n_motions, group.category)}: {group.n_sequences} sequences")
        for name, row in rows.items():
            print(f"  {name:<24}{100 * row[i].average:8.2f}{100 * row[i].median:8.2f}")


def group_title(n_motions: int | None, category: str | None) -> str:
    """Write a group of Table 7 in words."""
    if n_motions is None:
        return "all sequences"
    return f"{category or 'all'}, {n_motions} motions"
