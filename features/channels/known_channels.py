"""The channels that a pool's features may belong to."""

import numpy as np

from ..errors import ParameterError
from .channel import FeatureChannel
from .haar import HAAR
from .hog import HOG

CHANNELS: list[FeatureChannel] = [HOG, HAAR]
"""All channels, in the order of their features in the default pool."""


def register(channel: FeatureChannel) -> None:
    """Add a channel: its features join the default pool, and model files may hold them.

    Raises
    ------
    ParameterError
        If its name or one of its kinds is taken.
    """
    for other in CHANNELS:
        if channel.name == other.name:
            raise ParameterError(f"there is a channel named {channel.name!r} already")
        if set(channel.kinds) & set(other.kinds):
            raise ParameterError(f"channel {channel.name!r} has kinds of {other.name!r}: {channel.kinds}")
    CHANNELS.append(channel)


def unregister(channel: FeatureChannel) -> None:
    """Take a channel out again."""
    CHANNELS.remove(channel)


def channel_of_kind(kind: int) -> FeatureChannel:
    """Return the channel that a kind of feature belongs to."""
    return next(channel for channel in CHANNELS if kind in channel.kinds)


def channel_of_tag(dtype: np.dtype) -> FeatureChannel:
    """Return the channel whose maps have a tag of that type."""
    return next(channel for channel in CHANNELS if channel.tag.dtype == dtype)
