"""Small, fast, readable vision models learned on a CPU by feature selection with annealing.

This file is the root of the import package `annealed`, whose sub-packages are the folders `app`, `features`,
`models` and `datasets` of the repository. The names below load with their modules when first asked for.
"""

from typing import Any

from .features.lazy import lazy_names

_HOME = {
    "FSAClassifier": "models",
    "FSAClassifierCV": "models",
    "FSARanker": "models",
    "FSARegressor": "models",
    "FSARegressorCV": "models",
    "Linear": "models",
    "Piecewise": "models",
    "distributed": "models.cluster",
    "load_model": "models",
    "on_device": "models.designs.device",
    "open_rows": "datasets.rows",
    "resumable": "models.run_states",
}

_load, __dir__, __all__ = lazy_names(__name__, {**_HOME, "__version__": ""})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # takes as long to load as the rest of the command line

        return version("annealed")
    return _load(name)
