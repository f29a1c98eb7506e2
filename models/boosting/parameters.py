"""Checks of the boosters' parameters."""

from numbers import Integral

from ...features.errors import ParameterError


def check_count(name: str, value, least: int, most: int | None = None) -> None:
    """Accept an integer of at least `least` and, where given, at most `most`."""
    if isinstance(value, Integral) and least <= int(value) and (most is None or int(value) <= most):
        return
    accepted = f"an integer of at least {least}" + ("" if most is None else f" and at most {most}")
    raise ParameterError(f"{name} is {value!r}; it must be {accepted}")
