"""Small, fast, readable vision models learned on a CPU by feature selection with annealing.

This file is the root of the import package `annealed`, whose sub-packages are the folders `app`, `features`,
`models` and `datasets` of the repository. The names below load with their modules when first asked for.
"""

from importlib import import_module
from importlib.metadata import version

_HOME = {
    "FSAClassifier": "models",
    "FSAClassifierCV": "models",
    "FSARanker": "models",
    "FSARegressor": "models",
    "FSARegressorCV": "models",
    "Linear": "models",
    "Piecewise": "models",
    "load_model": "models",
    "open_rows": "datasets.rows",
}

__all__ = sorted(["__version__", *_HOME])


def __getattr__(name):
    if name == "__version__":
        return version("annealed")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__():
    return __all__
