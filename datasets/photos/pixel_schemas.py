"""Places and sizes in photos, and what of a file's list fits its schema."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from ...features.schemas import SchemaError, SomeSchema, validated

MAX_POSITION_PX = 1e7
MAX_SIDE_PX = 1_000_000

Position = Annotated[float, Field(ge=-MAX_POSITION_PX, le=MAX_POSITION_PX, allow_inf_nan=False)]
"""x, y, a width or a height, in pixels or in percent."""

Extent = Annotated[float, Field(ge=0, le=MAX_POSITION_PX, allow_inf_nan=False)]
"""Width or height of a box."""

Length = Annotated[float, Field(gt=0, le=MAX_SIDE_PX)]
"""Width or height of a photo that need not be written as a whole number."""

Side = Annotated[int, Field(ge=1, le=MAX_SIDE_PX)]
"""Width or height of a photo in pixels."""


def each_valid(
    schema: type[SomeSchema], values: Iterable[Any], where: str, problems: list[str]
) -> list[tuple[str, SomeSchema]]:
    """Return the values that fit a schema, each with where it is; the others become problems.

    Parameters
    ----------
    schema : subclass of Schema
    values : iterable
        Of a list of the file.
    where : str
        What an entry of the list is called: "people.json annotation".
    problems : list of str
        It grows.
    """
    found = []
    for number, value in enumerate(values, start=1):
        try:
            found.append((f"{where} {number}", validated(schema, value)))
        except SchemaError as error:
            problems.append(f"{where} {number}: {error}")
    return found
