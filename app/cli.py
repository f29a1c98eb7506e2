"""The command `annealed`: registers one file per command.

Heavy imports happen inside the commands, so that `annealed --help` answers at once.
"""

from collections.abc import Callable
from typing import Annotated

import typer

from .commands import (
    check_annotations,
    compare_selectors,
    convert,
    demo,
    detect_keypoints,
    evaluate_detector,
    evaluate_ranker,
    info,
    rank_segmentations,
    select_features,
    suggest_frames,
    train_detector,
    train_ranker,
)
from .status import report_errors

app = typer.Typer(
    name="annealed",
    help="Small, fast, readable vision models learned by feature selection with annealing.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Exit status: 0 done, 1 an error of the program or its libraries, 2 bad input, 130 interrupted.",
)

PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Keypoints in photos and videos": {
        "train-detector": train_detector.command,
        "detect-keypoints": detect_keypoints.command,
        "evaluate-detector": evaluate_detector.command,
        "suggest-frames": suggest_frames.command,
        "check-annotations": check_annotations.command,
        "convert": convert.command,
    },
    "Motions in point tracks": {
        "rank-segmentations": rank_segmentations.command,
        "train-ranker": train_ranker.command,
        "evaluate-ranker": evaluate_ranker.command,
    },
    "Features of tables": {
        "select-features": select_features.command,
        "compare-selectors": compare_selectors.command,
    },
    "About": {"demo": demo.command, "info": info.command},
}

COMMANDS = {name: command for commands in PANELS.values() for name, command in commands.items()}

for panel, commands in PANELS.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=panel)(report_errors(command))


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"annealed {version('annealed')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Small, fast, readable vision models learned by feature selection with annealing."""


def main() -> None:
    """Run the command line."""
    app(prog_name="annealed")
