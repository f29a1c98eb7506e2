"""Amounts of memory are understood, and too small a budget says what would do."""

import pytest

from annealed.features.errors import ParameterError
from annealed.models.memory import divide_memory, parse_bytes


@pytest.mark.parametrize("amount", ["", "2 apples", "-1GB", 0, -5, 1.5, True, None, "0MB"])
def test_what_is_no_amount_is_refused(amount):
    with pytest.raises(ParameterError, match='a number of bytes or a text such as "2GB"'):
        parse_bytes(amount)


def test_a_budget_covers_rows_coefficients_parts_and_survivors():
    plan = divide_memory(10**8, n_rows=10**5, n_features=100, n_coefficients=100, row_bytes=1200)
    assert 0 < plan.part_bytes < plan.resident_bytes <= 0.75 * 10**8


def test_too_small_a_budget_says_what_would_do():
    with pytest.raises(ParameterError, match=r"0.1 MB is too small for 100000 rows .* at least 12.1 MB"):
        divide_memory(10**5, n_rows=10**5, n_features=100, n_coefficients=100, row_bytes=1200)
    divide_memory(12_200_000, n_rows=10**5, n_features=100, n_coefficients=100, row_bytes=1200)
