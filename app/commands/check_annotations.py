"""`annealed check-annotations`: what may be wrong with labels, before an hour is spent on them."""

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import PHOTOS_HELP, SCALE_BY_HELP, OverwriteOption


def command(
    data: Annotated[Path, typer.Argument(help=PHOTOS_HELP)],
    out: Annotated[
        Path | None, typer.Option(help="Page to write (.html), with pictures of the worst of each kind.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of findings for machines.")] = False,
    smallest: Annotated[
        float, typer.Option(min=0, help="Object size in pixels below which there is no window.")
    ] = 20.0,
    fewest: Annotated[int, typer.Option(min=0, help="Objects in which a keypoint must be visible.")] = 20,
    scale_by: Annotated[str, typer.Option(help=SCALE_BY_HELP)] = "auto",
    overwrite: OverwriteOption = False,
) -> None:
    """Look for mistakes in labels: one line each, the worst of a kind first.

    Looked for are keypoints outside their picture or box, sides that are swapped, keypoints in odd places
    or jumping between frames, things labelled twice, objects too small for a window, keypoints too rare, and
    what cannot be read. Not everything that is said is wrong: look at it. The exit status is 1 if
    something was found, 0 if nothing, 2 if the labels cannot be read at all.
    """
    import dataclasses
    import json

    from ...datasets.photos.annotation_checks import check_annotations
    from ...datasets.photos.annotation_formats import read_annotations
    from ..arguments import sized
    from ..places import check_new_file
    from ..progress import warn
    from ..status import ExitStatus, one_line
    from ..wording import count

    if out is not None:
        check_new_file(out, overwrite)
    photos = sized(read_annotations(data), scale_by)
    found = check_annotations(photos, smallest_px=smallest, fewest=fewest)
    if as_json:
        print(json.dumps([dataclasses.asdict(finding) for finding in found], indent=1))
    else:
        for finding in found:
            who = f"{finding.photo}: " if finding.photo else ""
            print(one_line(f"{finding.kind}: {who}{finding.message}"))
    if out is not None:
        from ...models.whole_files import write_whole
        from ..output.annotation_report import findings_page

        write_whole(out, findings_page(data, photos, found).encode())
        warn(f"{out}: written")
    n_photos = len({finding.photo for finding in found if finding.photo})
    warn(
        f"{count(len(photos), 'photo')}, {count(photos.n_objects, 'object')}, "
        f"{count(len(photos.keypoint_names), 'keypoint')}: "
        + (f"{count(len(found), 'finding')} in {count(n_photos, 'photo')}" if found else "nothing found")
    )
    if found:
        raise typer.Exit(int(ExitStatus.ERROR))
