"""Sums over samples, compiled for each loss: its two scalar functions are part of the machine code.

A loss that is a mean over samples gives its value and its slope at one sample (`ScalarPair`). To numba a
pair is a type of its own, so that every kernel that takes one is compiled for it, with the two functions
inlined (those without a logarithm run in vector lanes), and kept on disk like any other kernel. The type's
name holds a digest of the functions' code: a loss that was edited is another type.
"""

from collections.abc import Callable
from hashlib import sha256
from types import CodeType, FunctionType

from numba import njit, types
from numba.core.imputils import lower_constant
from numba.extending import NativeValue, models, overload, register_model, typeof_impl, unbox


class ScalarPair:
    """Value and slope of a loss at one sample.

    Parameters
    ----------
    name : str
    value, slope : callable
        Of a target y, a response f and the loss's own parameters, all float; slope is d value / d f. They
        are compiled, so they may use arithmetic, `numpy` functions and other jitted functions.
    """

    def __init__(self, name: str, value: Callable[..., float], slope: Callable[..., float]) -> None:
        self.value, self.slope = njit(value), njit(slope)
        self.type = PairType(f"{name}, {_digest(value, slope)}")
        self.type.pair = self

    def __reduce__(self):
        # As a constant of a kernel, what numba's cache knows it by.
        return PairType, (self.type.pair_name,)


class PairType(types.Type):
    """What a `ScalarPair` is to numba; a cache on disk knows it by its name."""

    pair: ScalarPair

    def __init__(self, name: str) -> None:
        self.pair_name = name
        super().__init__(name=f"ScalarPair({name})")

    def __reduce__(self):
        return PairType, (self.pair_name,)


@typeof_impl.register(ScalarPair)
def _typeof(pair, _context):
    return pair.type


register_model(PairType)(models.OpaqueModel)


@lower_constant(PairType)
def _constant(context, _builder, _type, _pair):
    return context.get_dummy_value()


@unbox(PairType)
def _unbox(_type, _object, c):
    return NativeValue(c.context.get_dummy_value())


def sample_value(pair, y, f, parameters):
    """Value at one sample."""
    return pair.value(y, f, *parameters)


def sample_slope(pair, y, f, parameters):
    """Slope at one sample."""
    return pair.slope(y, f, *parameters)


@overload(sample_value)
def _sample_value(pair, y, f, parameters):
    value = pair.pair.value
    return lambda pair, y, f, parameters: value(y, f, *parameters)


@overload(sample_slope)
def _sample_slope(pair, y, f, parameters):
    slope = pair.pair.slope
    return lambda pair, y, f, parameters: slope(y, f, *parameters)


@njit(cache=True, nogil=True)
def mean_value(pair, parameters, response, target, weight, start, n_mean):
    """Sum of the weighted values over all outputs, divided by `n_mean`."""
    n_outputs, n = response.shape
    total = 0.0
    for o in range(n_outputs):
        for i in range(n):
            value = sample_value(pair, target[o, start + i], response[o, i], parameters)
            total += weight[start + i] * value
    return total / n_mean


@njit(cache=True, nogil=True)
def mean_slopes(pair, parameters, response, target, weight, start, n_mean, out):
    """Fill `out` with d mean_value / d response."""
    n_outputs, n = response.shape
    share = 1.0 / n_mean
    for o in range(n_outputs):
        f, d = response[o], out[o]
        y, w = target[o][start : start + n], weight[start : start + n]
        for i in range(n):
            d[i] = share * w[i] * sample_slope(pair, y[i], f[i], parameters)


def _digest(*functions: Callable) -> str:
    """Return some letters that change with the code of functions, and of those that they call."""
    text: list[str] = []
    seen: set[int] = set()

    def add(thing) -> None:
        thing = getattr(thing, "py_func", thing)
        if isinstance(thing, CodeType):
            text.append(thing.co_code.hex())
            for constant in thing.co_consts:
                add(constant)
        elif isinstance(thing, FunctionType):
            if id(thing) in seen:
                return
            seen.add(id(thing))
            add(thing.__code__)
            for name in thing.__code__.co_names:
                text.append(name)
                add(thing.__globals__.get(name))
            for cell in thing.__closure__ or ():
                add(cell.cell_contents)
        elif isinstance(thing, int | float | str | tuple | None):
            text.append(repr(thing))

    for function in functions:
        add(function)
    return sha256("\n".join(text).encode()).hexdigest()[:16]
