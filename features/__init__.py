"""Pixels and trajectories into numbers.

The names below load with their modules when first asked for, because compiled kernels take a moment to
import and much of the program never needs them.
"""

from .lazy import lazy_names

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

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
