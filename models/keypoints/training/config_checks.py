"""Checks that the settings of all fits share."""

from typing import Any

from ....features.errors import ParameterError


def at_least(what: str, settings: Any, **least: int) -> None:
    """Refuse settings below their least value; `what` begins the message."""
    for name, value in least.items():
        if getattr(settings, name) < value:
            raise ParameterError(f"{what}{name} must be at least {value}, got {getattr(settings, name)}")
