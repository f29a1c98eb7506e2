"""Attribute-relation files (ARFF), dense and sparse, with one or more target columns.

    % comment
    @relation name
    @attribute length numeric
    @attribute 'kind of leaf' {round, 'long and thin'}
    @data
    3.5, round                 a dense row
    {0 3.5, 1 round}           a sparse row: what is not listed is zero, or the first value of a set

A nominal value becomes its position in the attribute's set; a missing value (``?``) becomes NaN.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from ...features.errors import DataError, ParameterError
from .table import Table

_ATTRIBUTE = re.compile(r"""@attribute\s+("[^"]*"\S*|'(?:[^'\\]|\\.)*'|\S+)\s+(.+)""", re.IGNORECASE)
_FIELD = re.compile(r"""(?:[^,'"]|'[^']*'|"[^"]*")+""")
_NUMERIC = {"numeric", "real", "integer"}


class Attribute(NamedTuple):
    """A column: its name, and for a nominal one its values by position."""

    name: str
    values: dict[str, int] | None


def read_arff(path, targets: int | Sequence[str] = 1) -> Table:
    """Read an ARFF file.

    Parameters
    ----------
    path : path-like
    targets : int or sequence of str
        Which columns are to be predicted: their names, or how many of the last ones.

    Returns
    -------
    Table
        With X in CSR form if the file's rows are sparse, and y of shape (n_samples,) for one target,
        (n_samples, n_targets) for more.
    """
    path = Path(path)
    attributes, lines = _header(path)
    values = _values(path, attributes, lines)
    names = [attribute.name for attribute in attributes]
    columns = _target_columns(path, names, targets)
    others = np.setdiff1d(np.arange(len(names)), columns)
    y = values[:, columns]
    y = y.toarray() if sparse.issparse(y) else y
    return Table(
        values[:, others],
        y[:, 0] if len(columns) == 1 else y,
        path.name,
        feature_names=tuple(names[j] for j in others),
        target_names=tuple(names[j] for j in columns),
    )


def read_label_names(path) -> list[str]:
    """Read the names of the labels from the XML file that Mulan puts beside a multi-label ARFF file."""
    try:
        content = Path(path).read_bytes()
        # Entities can make a small file huge; a list of labels has no use for them.
        if b"<!ENTITY" in content:
            raise DataError(f"{path}: XML entities are not accepted")
        root = ElementTree.fromstring(content)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    except ElementTree.ParseError as error:
        raise DataError(f"{path}: not XML ({error})") from error
    names = [element.get("name") for element in root.iter() if element.tag.endswith("}label")]
    if not names or None in names:
        raise DataError(f"{path}: no <label name=...> elements")
    return [str(name) for name in names]


def _header(path: Path) -> tuple[list[Attribute], list[tuple[int, str]]]:
    """Return the attributes, and the lines of data with their numbers."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    attributes = []
    for number, line in enumerate(lines, start=1):
        line = line.strip()
        if line.lower().startswith("@attribute"):
            attributes.append(_attribute(path, number, line))
        elif line.lower().startswith("@data"):
            rows = [(n, text.strip()) for n, text in enumerate(lines[number:], start=number + 1)]
            return attributes, [(n, text) for n, text in rows if text and not text.startswith("%")]
    raise DataError(f"{path}: no @data line; this is not an ARFF file, or it is cut short")


def _attribute(path: Path, number: int, line: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise DataError(f"{path}: line {number} is not '@attribute name type'")
    name, kind = match[1].strip("'\""), match[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(name, {_unquoted(value): i for i, value in enumerate(_fields(kind[1:-1]))})
    if kind.lower() not in _NUMERIC:
        raise DataError(f"{path}: line {number} has type {kind}; accepted are numeric and sets of values")
    return Attribute(name, None)


def _fields(text: str) -> list[str]:
    """Split at commas outside quotes."""
    fields = _FIELD.findall(text) if "'" in text or '"' in text else text.split(",")
    return [field.strip() for field in fields]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _values(path: Path, attributes: list[Attribute], lines: Iterable[tuple[int, str]]):
    """Return all columns as numbers, dense or CSR after the first row's form."""
    lines = list(lines)
    if not lines:
        raise DataError(f"{path}: no rows after @data")
    if not lines[0][1].startswith("{"):
        return np.array([_dense_row(path, attributes, *line) for line in lines])
    indptr: list[int] = [0]
    indices: list[int] = []
    data: list[float] = []
    for line in lines:
        row = _sparse_row(path, attributes, *line)
        indices.extend(row.keys())
        data.extend(row.values())
        indptr.append(len(indices))
    values = sparse.csr_array(
        (np.array(data, np.float64), indices, indptr), shape=(len(lines), len(attributes))
    )
    values.sort_indices()
    return values


def _dense_row(path: Path, attributes: list[Attribute], number: int, line: str) -> list[float]:
    fields = _fields(line)
    if len(fields) != len(attributes):
        raise DataError(f"{path}: line {number} has {len(fields)} values, expected {len(attributes)}")
    return [_number(path, number, a, text) for a, text in zip(attributes, fields, strict=True)]


def _sparse_row(path: Path, attributes: list[Attribute], number: int, line: str) -> dict[int, float]:
    row = {}
    if not (line.startswith("{") and line.endswith("}")):
        raise DataError(f"{path}: line {number} is not in braces, as the first row is")
    for field in _fields(line[1:-1]) if line[1:-1].strip() else []:
        index, _, text = field.partition(" ")
        # Digits of other alphabets, such as a superscript two, are digits to Python but no numbers.
        if not (index.isascii() and index.isdecimal()) or len(index) > 9 or int(index) >= len(attributes):
            raise DataError(
                f"{path}: line {number} has index {index[:20]!r}; accepted are 0 to {len(attributes) - 1}"
            )
        value = _number(path, number, attributes[int(index)], text.strip())
        if value != 0:
            row[int(index)] = value
    return row


def _number(path: Path, number: int, attribute: Attribute, text: str) -> float:
    if text == "?":
        return np.nan
    if attribute.values is not None:
        if _unquoted(text) in attribute.values:
            return float(attribute.values[_unquoted(text)])
        raise DataError(f"{path}: line {number} has {text!r}, which is none of {attribute.name}'s values")
    try:
        return float(text)
    except ValueError:
        raise DataError(f"{path}: line {number} has {text!r} for the number {attribute.name}") from None


def _target_columns(path: Path, names: list[str], targets: int | Sequence[str]) -> np.ndarray:
    if isinstance(targets, int):
        if not 1 <= targets < len(names):
            raise ParameterError(f"targets is {targets}; {path.name} has {len(names)} columns")
        return np.arange(len(names) - targets, len(names))
    places = {name: j for j, name in reversed(list(enumerate(names)))}
    missing = [name for name in targets if name not in places]
    if missing or not targets:
        raise DataError(f"{path}: no column {missing[0] if missing else 'wanted'}; targets must name columns")
    return np.array([places[name] for name in targets])
