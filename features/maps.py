"""The maps of a pyramid level, which pixel features of windows centred on any of its pixels are read from."""

from functools import partial

import cv2
import numpy as np

from .channels.known_channels import CHANNELS
from .errors import DataError, ParameterError
from .patches import BEFORE_PX, MARGIN_PX, WINDOW_PX, check_points, check_rgb


class LevelMaps:
    """The maps of a pyramid level, or of a band of its rows.

    Windows that reach over the border see its pixels repeated, as `cut_windows` does.

    Parameters
    ----------
    image : ndarray of shape (H, W, 3), uint8
        The level.
    rows : tuple of two int, optional
        First row and end of the rows on which windows are centred; all of them by default. A band of
        some hundred rows stays in the cache, and bounds the memory for a level of any size.
    channels : collection of FeatureChannel, optional
        Those whose maps are made; all by default.
    reuse : LevelMaps, optional
        Maps that are no longer needed, whose memory is taken over where it suffices. Fresh memory takes
        longer to get than the maps take to compute.

    Attributes
    ----------
    shape : tuple of two int
        Rows and columns of windows.
    first_row : int
        Row of the level on which the first row of windows is centred.
    stride : int
        Entries per row, in all maps. The window centred on (row, col) starts at entry
        ``(row - first_row) * stride + col`` of each of them.
    read : tuple
        The flat maps as kernels take them (channels/dispatch.py).
    layout : ndarray of shape (n_maps, 3), int64
        How far apart planes, rows and columns lie in each map.
    """

    def __init__(self, image, *, rows=None, channels=None, reuse=None):
        image = check_rgb(image)
        self.first_row, end = (0, image.shape[0]) if rows is None else rows
        if not 0 <= self.first_row < end <= image.shape[0]:
            raise ParameterError(f"rows is {rows}; it must be a range within 0..{image.shape[0]}")
        self.shape = (end - self.first_row, image.shape[1])
        self.stride = image.shape[1] + WINDOW_PX + 1
        self._memory = {} if reuse is None else reuse._memory
        padded = _padded(image, self.first_row, end)
        wanted = CHANNELS if channels is None else channels
        self.read = tuple(
            channel.tagged(self._maps(channel, padded) if channel in wanted else channel.no_maps)
            for channel in CHANNELS
        )
        steps = [channel.level_steps(self.shape[0], self.stride) for channel in CHANNELS]
        self.layout = np.concatenate(steps)

    def starts(self, rows, cols):
        """Return the first entries of the windows centred on the given pixels, int64 of shape (n,)."""
        rows, cols = check_points(rows, cols, (self.first_row + self.shape[0], self.shape[1]))
        if rows.size and rows.min() < self.first_row:
            raise DataError(f"rows begin with {rows.min()}; these maps begin with row {self.first_row}")
        return (rows - self.first_row) * self.stride + cols

    def _maps(self, channel, padded):
        return channel.level_maps(padded, self.shape[0], self.stride, partial(self._array, channel.name))

    def _array(self, channel, name, shape, dtype):
        """Return an uninitialised array in the memory kept under those names."""
        size = int(np.prod(shape))
        if len(self._memory.get((channel, name), ())) < size:
            self._memory[channel, name] = np.empty(size, dtype=dtype)
        return self._memory[channel, name][:size].reshape(shape)


def _padded(image, first, end):
    """Return rows first..end-1 of an image with 13 pixels around them, border pixels repeated outside."""
    around = BEFORE_PX + MARGIN_PX
    above, below = min(around, first), min(around, len(image) - end)
    return cv2.copyMakeBorder(
        image[first - above : end + below],
        around - above,
        around - below,
        around,
        around,
        cv2.BORDER_REPLICATE,
    )
