"""Schemas: what the values of a file of objects, such as JSON, must be."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MAX_NAME = 1000
MAX_POSITION_PX = 1e7
MAX_SIDE_PX = 1_000_000

Position = Annotated[float, Field(ge=-MAX_POSITION_PX, le=MAX_POSITION_PX, allow_inf_nan=False)]
"""x, y, a width or a height, in pixels."""

Side = Annotated[int, Field(ge=1, le=MAX_SIDE_PX)]
"""Width or height of a photo in pixels."""

Name = Annotated[str, Field(max_length=MAX_NAME)]

Identity = int | Annotated[str, Field(max_length=MAX_NAME)]
"""What one entry calls another by."""


class Schema(BaseModel):
    """What an object of a JSON file must hold; what else it holds is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


SomeSchema = TypeVar("SomeSchema", bound=Schema)


class SchemaError(ValueError):
    """A value is not what its schema asks for."""


def validated(schema: type[SomeSchema], value: Any) -> SomeSchema:
    """Return a value as its schema has it.

    Raises
    ------
    SchemaError
        The message names the first member that does not fit.
    """
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise SchemaError(f"{where}: {first['msg']}" if where else first["msg"]) from None
    except RecursionError:
        raise SchemaError("nested too deeply") from None
