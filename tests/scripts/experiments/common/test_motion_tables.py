"""The transcribed Table 7 agrees with itself."""

import pytest

SEQUENCES = {"checkerboard": (78, 26), "traffic": (31, 7), "articulated": (11, 2)}


@pytest.mark.parametrize("n_motions", [2, 3])
@pytest.mark.parametrize("column", range(8))
def test_averages_over_categories_are_those_of_the_categories(n_motions, column):
    from common.motion_tables import AVERAGE

    parts = [(AVERAGE[n_motions, c][column], n[n_motions - 2]) for c, n in SEQUENCES.items()]
    if any(value is None for value, _ in parts):
        pytest.skip("a figure of this column cannot be read")
    mean = sum(value * n for value, n in parts) / sum(n for _, n in parts)
    assert mean == pytest.approx(AVERAGE[n_motions, None][column], abs=0.012)


@pytest.mark.parametrize("column", range(2, 8))
def test_the_average_over_all_sequences_is_that_of_both_numbers_of_motions(column):
    from common.motion_tables import AVERAGE

    mean = (120 * AVERAGE[2, None][column] + 35 * AVERAGE[3, None][column]) / 155
    assert mean == pytest.approx(AVERAGE[None, None][column], abs=0.012)


def test_medians_have_the_same_groups():
    from common.motion_tables import AVERAGE, COLUMNS, MEDIAN

    assert MEDIAN.keys() == AVERAGE.keys()
    assert {len(row) for table in (AVERAGE, MEDIAN) for row in table.values()} == {len(COLUMNS)}
