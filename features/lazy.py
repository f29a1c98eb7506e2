"""Names of a package that load with their modules when first asked for."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, home: dict[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return what a package defines as `__getattr__`, `__dir__` and `__all__`.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    home : dict of str to str
        The module of each name, relative to the package.
    """
    names = sorted(home)

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return load, lambda: names, names
