"""An additive model of the pixel features of windows: the sum that every trained part of a detector is.

f(window) = intercept + sum over features of f_j(x_j)                             (equation 12)

A feature's value is first turned into a code, its position in the feature's own training range in 255 steps,
and the response is looked up in a table of 256 entries made from the feature's B + 1 knots. It is the same
arithmetic, bit for bit, in training, on stored windows and in a scan. A classifier of a keypoint has one such
sum, a regression of its offset two, a stage of an alignment two for each keypoint of the object.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...features.codes import code_scale
from ...features.errors import DataError
from ...features.mosaic import are_few, codes_of_few
from ...features.pool import WindowPool
from ..additive import PiecewiseModel
from ..model_files import ModelFile

MAX_FEATURES = 1_000_000


@dataclass(frozen=True, eq=False)
class WindowModel:
    """Piecewise linear responses to features of 24 x 24 windows.

    Attributes
    ----------
    pool : WindowPool
        The k selected features.
    responses : PiecewiseModel
        Of float32, to features 0 to k - 1.
    """

    pool: WindowPool
    responses: PiecewiseModel

    def __post_init__(self) -> None:
        if len(self.pool) != len(self.responses.features) or not len(self.pool):
            raise DataError(
                f"{len(self.pool)} features of windows with {len(self.responses.features)} responses"
            )

    @property
    def largest(self) -> float:
        """The largest response or intercept, without its sign."""
        return float(max(np.abs(self.responses.values).max(), np.abs(self.intercept).max()))

    @classmethod
    def of_arrays(
        cls, pool: WindowPool, low: np.ndarray, high: np.ndarray, values: np.ndarray, intercept: np.ndarray
    ) -> "WindowModel":
        """Make a model of ranges (k,), values (n_outputs, k, B + 1) at the knots, intercept (n_outputs,)."""
        return cls(
            pool, PiecewiseModel(np.arange(len(pool)), low, high, values, intercept).astype(np.float32)
        )

    def __len__(self) -> int:
        return len(self.pool)

    def __getitem__(self, order: np.ndarray) -> "WindowModel":
        """Return the model with its features in another order, or of some of them."""
        chosen = self.responses.reordered(order).with_features(np.arange(len(order)))
        return WindowModel(self.pool[order], chosen)

    def with_outputs(self, order: Sequence[int]) -> "WindowModel":
        """Return the model with its outputs in another order."""
        values, intercept = self.responses.values[order], self.responses.intercept[order]
        return replace(self, responses=replace(self.responses, values=values, intercept=intercept))

    @property
    def intercept(self) -> np.ndarray:
        """Where the sums start, (n_outputs,) float64."""
        return self.responses.intercept

    @property
    def tables(self) -> np.ndarray:
        """Response of each feature at each code, (n_outputs, k, 256) float32."""
        return self.responses.tables

    @cached_property
    def scaling(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lowest and highest value of each feature, and codes a unit, (k,) float32 each."""
        return code_scale(self.responses.low, self.responses.high)

    def codes(self, patches: np.ndarray) -> np.ndarray:
        """Return the features' codes on stored windows, (k, n_windows) uint8."""
        compute = codes_of_few if are_few(len(patches)) else WindowPool.codes
        return compute(self.pool, patches, self.responses.low, self.responses.high)

    def respond(self, patches: np.ndarray) -> np.ndarray:
        """Return the sums on stored windows.

        Parameters
        ----------
        patches : ndarray of shape (n_windows, 26, 26, 3), uint8
            As `annealed.features.pool.cut_windows` gives them.

        Returns
        -------
        ndarray of shape (n_outputs, n_windows), float32
        """
        return self.responses.respond_to_codes(self.codes(patches))


def pack_window_models(models: Sequence[WindowModel], prefix: str = "") -> dict[str, np.ndarray]:
    """Lay models with the same outputs out as arrays, one after the other; counts say how many features."""
    return {
        prefix + "descriptors": np.concatenate([m.pool.descriptors for m in models]),
        prefix + "low": np.concatenate([m.responses.low for m in models]),
        prefix + "high": np.concatenate([m.responses.high for m in models]),
        prefix + "knots": np.concatenate([m.responses.values for m in models], axis=1),
        prefix + "intercepts": np.stack([m.intercept for m in models]),
        prefix + "counts": np.array([len(m) for m in models], dtype=np.int64),
    }


def unpack_window_models(
    file: ModelFile, prefix: str, n_outputs: int, n_models: int | None = None
) -> tuple[WindowModel, ...]:
    """Read back what `pack_window_models` laid out, checking presence, types, shapes and ranges."""
    counts = read_counts(file, prefix + "counts", (n_models,))
    knots = file.array(prefix + "knots", dtype=np.float32, shape=(n_outputs, int(counts.sum()), None))
    intercepts = file.array(prefix + "intercepts", dtype=np.float64, shape=(len(counts), n_outputs))
    return split_models(file, prefix, counts, knots, intercepts)


def split_models(
    file: ModelFile, prefix: str, counts: np.ndarray, knots: np.ndarray, intercepts: np.ndarray
) -> tuple[WindowModel, ...]:
    """Cut descriptors and ranges of a file, and knots (n_outputs, n, B + 1), into models of some features."""
    n = int(counts.sum())
    descriptors = file.array(prefix + "descriptors", dtype=np.uint8, shape=(n, None))
    low = file.array(prefix + "low", dtype=np.float32, shape=(n,))
    high = file.array(prefix + "high", dtype=np.float32, shape=(n,))
    models = []
    for end, count, intercept in zip(np.cumsum(counts).tolist(), counts.tolist(), intercepts, strict=True):
        part = slice(end - count, end)
        pool = WindowPool.from_descriptors(descriptors[part])
        try:
            models.append(WindowModel.of_arrays(pool, low[part], high[part], knots[:, part], intercept))
        except DataError as error:
            raise DataError(f"model file: {error}") from None
    return tuple(models)


def read_counts(file: ModelFile, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
    """Read numbers of features, none of which is zero, below or far too large; there is at least one."""
    counts = file.array(name, dtype=np.int64, shape=shape)
    if not counts.size or counts.min() < 1 or counts.max() > MAX_FEATURES:
        raise DataError(f"model file: {name} must lie in 1..{MAX_FEATURES}, found {counts.tolist()}")
    return counts
