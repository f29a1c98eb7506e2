"""Pixels and trajectories into numbers.

The names below load with their modules when first asked for, because compiled kernels take a moment to
import and much of the program never needs them.
"""

from importlib import import_module

_HOME = {
    "MARGIN_PX": "patches",
    "PATCH_PX": "patches",
    "WINDOW_PX": "patches",
    "Level": "pyramid",
    "LevelMaps": "maps",
    "WindowPool": "pool",
    "cut_windows": "patches",
    "gaussian_pyramid": "pyramid",
    "integral_image": "integral",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__():
    return __all__
