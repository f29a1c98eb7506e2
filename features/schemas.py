"""Schemas: what the values of an object of a file, such as JSON, must be."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MAX_NAME = 1000

Name = Annotated[str, Field(max_length=MAX_NAME)]

Identity = int | Annotated[str, Field(max_length=MAX_NAME)]
"""What one entry calls another by."""


class Schema(BaseModel):
    """What an object of a file must hold; what else it holds is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ExactSchema(BaseModel):
    """What an object of a file holds, no more and no less, without conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


SomeSchema = TypeVar("SomeSchema", bound=BaseModel)


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
