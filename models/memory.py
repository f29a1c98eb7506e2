"""Amounts of memory: as people write them, and how a fit within a budget divides them."""

import re
from dataclasses import dataclass
from numbers import Integral

from ..features.errors import ParameterError

DEFAULT_BUDGET = 1 << 30
UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
ROW_BYTES = 120  # of order, targets, weights and responses, whatever the features
COEFFICIENT_ARRAYS = 16  # coefficients, velocities, gradients and sums of gradients, in float64
LEAST_PART_ROWS = 16


def parse_bytes(amount, name: str = "memory_budget") -> int:
    """Return an amount such as 2_000_000_000, "2GB" or "512 MiB" in bytes.

    Examples
    --------
    >>> parse_bytes("2GB"), parse_bytes("1.5 MiB"), parse_bytes(4096)
    (2000000000, 1572864, 4096)
    """
    if isinstance(amount, str) and (match := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", amount)):
        number, unit = match.groups()
        if unit.lower() in UNITS and float(number) > 0:
            return int(float(number) * UNITS[unit.lower()])
    if isinstance(amount, Integral) and not isinstance(amount, bool) and int(amount) > 0:
        return int(amount)
    raise ParameterError(f'{name} must be a number of bytes or a text such as "2GB", got {amount!r}')


@dataclass(frozen=True)
class MemoryPlan:
    """How a budget is divided.

    Attributes
    ----------
    part_bytes : int
        Of a part while it is read and encoded.
    resident_bytes : int
        Of the survivors once they are gathered, when no part is read any more; a keep step may copy a
        quarter of them.
    """

    part_bytes: int
    resident_bytes: int


def divide_memory(
    budget: int, n_rows: int, n_features: int, n_coefficients: int, row_bytes: int
) -> MemoryPlan:
    """Divide a budget.

    Parameters
    ----------
    budget : int
    n_rows, n_features : int
    n_coefficients : int
        Of all features and outputs.
    row_bytes : int
        A row while it is read and encoded.

    Raises
    ------
    ParameterError
        A few rows would not fit.
    """
    fixed = n_rows * ROW_BYTES + n_coefficients * 8 * COEFFICIENT_ARRAYS
    least = fixed + 4 * LEAST_PART_ROWS * row_bytes
    if budget < least:
        raise ParameterError(
            f"memory_budget of {budget / 1e6:.1f} MB is too small for {n_rows} rows of {n_features} "
            f"features; at least {least / 1e6:.1f} MB are needed"
        )
    return MemoryPlan((budget - fixed) // 4, (budget - fixed) * 3 // 4)
