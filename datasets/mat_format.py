"""MATLAB's file format, versions 4 to 7.2: a reader that checks every tag before it follows it.

Nothing is believed that the bytes do not bear out: an element must lie inside what holds it, an array must
have as many values as its dimensions say, and what is packed is unpacked only as far as it may be. The format
is described in The MathWorks, MAT-File Format, 2019.

    file      header (128 bytes), elements
    element   kind (4 bytes), length (4), data, filled up to a multiple of 8 bytes
              or, of at most 4 bytes: kind (2), length (2), data (4)
    array     an element of elements: flags, dimensions, name, and what its class needs
"""

import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

HEADER_BYTES = 128
MAX_DEPTH = 20
MAX_DIMENSIONS = 32
_HEAD_BYTES = 4096  # unpacked to learn a name
_ARRAY, _PACKED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_LETTERS = {**_NUMBERS, 16: "u1", 17: "u2", 18: "u4"}
_CELL, _STRUCT, _CHAR, _SPARSE = 1, 2, 4, 5
_NUMERIC = range(6, 16)
_LOGICAL_FLAG, _COMPLEX_FLAG = 0x200, 0x800
_V4_NUMBERS = "f8", "f4", "i4", "i2", "u2", "u1"

Budget = Callable[[int, str], None]
"""Called with bytes that are about to be spent, and on what; raises if that is too much."""


class DamagedError(ValueError):
    """The bytes are not what the format asks for."""


class Stored(NamedTuple):
    """An array that has not been read.

    Attributes
    ----------
    order : {"<", ">"}
        Of the bytes.
    packed : bool
    data : memoryview
        From its dimensions on (version 4), otherwise the contents of its element.
    """

    order: str
    packed: bool
    data: memoryview


class _Head(NamedTuple):
    """What an array says before its values."""

    kind: int
    flags: int
    shape: tuple[int, ...]
    name: str


def list_arrays(content: bytes) -> dict[str, Stored]:
    """Return the arrays of a file by name; of several with one name the last."""
    view = memoryview(content)
    if len(view) >= 20 and 0 in view[:4]:
        return _list_v4(view)
    if len(view) < HEADER_BYTES or bytes(view[126:128]) not in (b"IM", b"MI"):
        raise DamagedError("its header is not MATLAB's")
    order = "<" if view[126:128] == b"IM" else ">"
    version = int(np.frombuffer(view[124:126], f"{order}u2")[0]) >> 8
    if version == 2:
        raise DamagedError("version 7.3, which is HDF5; save it with the option -v7")
    if version != 1:
        raise DamagedError(f"version {version} of the format")
    arrays = {}
    for kind, data in _elements(view[HEADER_BYTES:], order, filled=False):
        if kind not in (_ARRAY, _PACKED):
            raise DamagedError(f"an element of kind {kind} where an array is expected")
        stored = Stored(order, kind == _PACKED, data)
        arrays[_head(_elements(_begin(stored), order, whole=False), order).name] = stored
    return arrays


def read_array(stored: Stored, budget: Budget) -> Any:
    """Return one array: numbers as ndarray or csc_array, text as str, a struct as a list of dicts.

    A cell array becomes a list in MATLAB's order; what else there is, such as objects, None.
    """
    if stored.packed:
        return _array(_unpacked(stored, budget), stored.order, budget, 0)
    if _is_v4(stored):
        return _read_v4(stored)
    return _array(stored.data, stored.order, budget, 0)


def _elements(
    view: memoryview, order: str, *, filled: bool = True, whole: bool = True
) -> Iterator[tuple[int, memoryview]]:
    """Yield the kind and the data of each element.

    Parameters
    ----------
    filled : bool
        Whether packed elements, too, are filled up to 8 bytes; those of a file are not.
    whole : bool
        Whether an element that goes on beyond the end is damage; otherwise it is the last, and short.
    """
    at = 0
    while at < len(view):
        if at + 8 > len(view):
            if not whole:
                return
            raise DamagedError("an element is cut short")
        first, second = np.frombuffer(view[at : at + 8], f"{order}u4").tolist()
        if first >> 16:  # the short form
            kind, size = first & 0xFFFF, first >> 16
            if size > 4:
                raise DamagedError(f"a short element of {size} bytes")
            yield kind, view[at + 4 : at + 4 + size]
            at += 8
            continue
        if whole and at + 8 + second > len(view):
            raise DamagedError(f"an element of {second} bytes where {len(view) - at - 8} are left")
        yield first, view[at + 8 : at + 8 + second]
        at += 8 + (second if first == _PACKED and not filled else -(-second // 8) * 8)


def _begin(stored: Stored) -> memoryview:
    """The first bytes of an array's contents, unpacked."""
    if not stored.packed:
        return stored.data
    return _inflate(stored.data, _HEAD_BYTES)[8:]


def _inflate(data: memoryview, most: int, *, whole: bool = False) -> memoryview:
    """At most so many bytes of what is packed; `whole` if that must be all, and its checksum right."""
    stream = zlib.decompressobj()
    try:
        begin = stream.decompress(data, most)
        if whole and (stream.decompress(stream.unconsumed_tail, 1) or not stream.eof):
            raise DamagedError("a packed array of another length than it says")
    except zlib.error as error:
        raise DamagedError(str(error)) from None
    return memoryview(begin)


def _unpacked(stored: Stored, budget: Budget) -> memoryview:
    """The contents of a packed array, which its own tag says the length of."""
    tag = _inflate(stored.data, 8)
    if len(tag) < 8:
        raise DamagedError("a packed array is cut short")
    kind, size = np.frombuffer(tag, f"{stored.order}u4").tolist()
    if kind != _ARRAY:
        raise DamagedError(f"a packed element of kind {kind} where an array is expected")
    budget(size, "an unpacked array")
    data = _inflate(stored.data, 8 + size, whole=True)[8:]
    if len(data) < size:
        raise DamagedError(f"a packed array of {len(data)} bytes that says {size}")
    return data


def _next(elements: Iterator[tuple[int, memoryview]], what: str) -> tuple[int, memoryview]:
    element = next(elements, None)
    if element is None:
        raise DamagedError(f"an array without {what}")
    return element


def _head(elements: Iterator[tuple[int, memoryview]], order: str) -> _Head:
    kinds, (flags, sizes, name) = zip(
        *(_next(elements, what) for what in ("flags", "dimensions", "a name")), strict=True
    )
    if kinds[:2] != (6, 5) or kinds[2] not in _LETTERS:
        raise DamagedError(f"flags, dimensions and name of kinds {kinds}")
    if len(flags) != 8 or len(sizes) % 4 or not 2 <= len(sizes) // 4 <= MAX_DIMENSIONS:
        raise DamagedError("flags or dimensions of the wrong length")
    shape = tuple(np.frombuffer(sizes, f"{order}i4").tolist())
    if min(shape) < 0:
        raise DamagedError(f"dimensions {shape}")
    bits = int(np.frombuffer(flags, f"{order}u4")[0])
    return _Head(bits & 0xFF, bits, shape, bytes(name).decode("ascii", "replace"))


def _array(view: memoryview, order: str, budget: Budget, depth: int) -> Any:
    if len(view) == 0:
        return np.empty((0, 0))
    if depth > MAX_DEPTH:
        raise DamagedError(f"arrays within arrays, more than {MAX_DEPTH} deep")
    elements = _elements(view, order)
    head = _head(elements, order)
    if head.kind in _NUMERIC:
        return _numbers(head, elements, order, budget)
    if head.kind == _SPARSE:
        return _sparse(head, elements, order, budget)
    if head.kind == _CHAR:
        return _text(elements, order)
    if head.kind == _CELL:
        return _inner(elements, order, budget, depth, math.prod(head.shape))
    return _struct(head, elements, order, budget, depth) if head.kind == _STRUCT else None


def _values(element: tuple[int, memoryview], order: str, names: dict[int, str]) -> np.ndarray:
    """The values of one element, in its own type."""
    kind, data = element
    if kind not in names:
        raise DamagedError(f"values of kind {kind}")
    dtype = np.dtype(order + names[kind])
    if len(data) % dtype.itemsize:
        raise DamagedError(f"{len(data)} bytes of values of {dtype.itemsize} each")
    return np.frombuffer(data, dtype)


def _numbers(head: _Head, elements: Iterator, order: str, budget: Budget) -> np.ndarray:
    values = _values(_next(elements, "values"), order, _NUMBERS)
    if head.flags & _COMPLEX_FLAG:
        raise DamagedError(f"{head.name or 'an array'} holds complex numbers, which are not read")
    if len(values) != math.prod(head.shape):
        raise DamagedError(f"{len(values)} values for dimensions {head.shape}")
    budget(values.nbytes, "an array")
    array = values.reshape(head.shape, order="F")
    return array != 0 if head.flags & _LOGICAL_FLAG else array.astype(values.dtype.newbyteorder("="))


def _sparse(head: _Head, elements: Iterator, order: str, budget: Budget) -> sparse.csc_array:
    rows = _values(_next(elements, "rows"), order, _NUMBERS).astype(np.int64)
    starts = _values(_next(elements, "columns"), order, _NUMBERS).astype(np.int64)
    values = _values(_next(elements, "values"), order, _NUMBERS)
    if head.flags & _COMPLEX_FLAG:
        raise DamagedError(f"{head.name or 'an array'} holds complex numbers, which are not read")
    if (
        len(head.shape) != 2
        or len(starts) != head.shape[1] + 1
        or starts[0] != 0
        or (np.diff(starts) < 0).any()
    ):
        raise DamagedError(f"columns of a sparse array that do not fit its dimensions {head.shape}")
    n = int(starts[-1])  # more places may be reserved than are used
    if n > min(len(rows), len(values)) or (n and not 0 <= rows[:n].min() <= rows[:n].max() < head.shape[0]):
        raise DamagedError(f"rows of a sparse array that do not fit its dimensions {head.shape}")
    budget(16 * (sum(head.shape) + n), f"a sparse array, {head.shape[0]} x {head.shape[1]},")
    filled = values[:n].astype(values.dtype.newbyteorder("="))
    return sparse.csc_array(
        (filled != 0 if head.flags & _LOGICAL_FLAG else filled, rows[:n], starts), head.shape
    )


def _text(elements: Iterator, order: str) -> str:
    letters = _values(_next(elements, "letters"), order, _LETTERS)
    return "".join(map(chr, (letters.astype(np.int64) % 0x110000).tolist()))


def _inner(elements: Iterator, order: str, budget: Budget, depth: int, n: int) -> list[Any]:
    """The arrays within an array, which must be `n`."""
    found: list[Any] = []
    for kind, data in elements:
        if kind != _ARRAY or len(found) == n:
            raise DamagedError(f"other than {n} arrays within an array")
        found.append(_array(data, order, budget, depth + 1))
    if len(found) != n:
        raise DamagedError(f"{len(found)} arrays within an array of {n}")
    return found


def _struct(head: _Head, elements: Iterator, order: str, budget: Budget, depth: int) -> list[dict[str, Any]]:
    lengths = _values(_next(elements, "the length of names"), order, _NUMBERS)
    _, joined = _next(elements, "names")
    if len(lengths) != 1 or not 1 <= lengths[0] <= 1024 or len(joined) % int(lengths[0]):
        raise DamagedError("names of fields of the wrong length")
    step = int(lengths[0])
    names = [
        bytes(joined[i : i + step]).split(b"\0")[0].decode("ascii", "replace")
        for i in range(0, len(joined), step)
    ]
    if not names:
        return []
    values = _inner(elements, order, budget, depth, len(names) * math.prod(head.shape))
    return [
        dict(zip(names, values[i : i + len(names)], strict=True)) for i in range(0, len(values), len(names))
    ]


def _list_v4(view: memoryview) -> dict[str, Stored]:
    """Version 4: arrays one after the other, each with a header of five numbers and a name."""
    arrays, at = {}, 0
    while at < len(view):
        if at + 20 > len(view):
            raise DamagedError("an array is cut short")
        order = "<" if np.frombuffer(view[at : at + 4], "<i4")[0] in range(5000) else ">"
        form, rows, columns, imaginary, n_name = np.frombuffer(view[at : at + 20], f"{order}i4").tolist()
        number, text = form // 10 % 10, form % 10
        if not (
            form // 1000 == (order == ">") and number < len(_V4_NUMBERS) and text < 3 and imaginary in (0, 1)
        ):
            raise DamagedError(f"an array of form {form}")
        size = rows * columns * np.dtype(_V4_NUMBERS[number]).itemsize * (1 + imaginary)
        end = at + 20 + n_name + size
        if min(rows, columns, n_name) < 0 or end > len(view):
            raise DamagedError(f"an array of {rows} x {columns} where {len(view) - at - 20} bytes are left")
        name = bytes(view[at + 20 : at + 20 + n_name]).split(b"\0")[0].decode("ascii", "replace")
        arrays[name] = Stored(f"{order}4", False, view[at:end])
        at = end
    return arrays


def _is_v4(stored: Stored) -> bool:
    return stored.order.endswith("4")


def _read_v4(stored: Stored) -> Any:
    order = stored.order[0]
    form, rows, columns, imaginary, n_name = np.frombuffer(stored.data[:20], f"{order}i4").tolist()
    if imaginary or form % 10:
        return None  # complex numbers, text, sparse
    dtype = np.dtype(order + _V4_NUMBERS[form // 10 % 10])
    values = np.frombuffer(stored.data[20 + n_name :], dtype)
    return values.reshape((rows, columns), order="F").astype(dtype.newbyteorder("="))
