import numpy as np
import pytest


@pytest.fixture
def open_results(tmp_path):
    from common.results import Results

    return lambda: Results(tmp_path / "folder" / "r.csv", ("method", "seed"), ("value",))


def test_rows_are_found_again_after_reopening(open_results):
    first = open_results()
    first.add(method="a", seed=0, value=1.5)
    first.add(method="b", seed=0, value="")
    again = open_results()
    assert ("a", 0) in again
    assert ("a", 1) not in again
    assert [row["value"] for row in again.select(method="a")] == ["1.5"]
    assert len(again.select(seed=0)) == 2


@pytest.mark.parametrize("cut", ["b", "b,0", "b,0,", "b,0,1"])
def test_a_line_cut_short_is_measured_again(open_results, cut):
    results = open_results()
    results.add(method="a", seed=0, value=1.5)
    with results.path.open("a") as file:
        file.write(cut)
    again = open_results()
    assert ("b", 0) not in again
    again.add(method="b", seed=0, value=2)
    assert [row["value"] for row in open_results().select(method="b")] == ["2"]


def test_other_columns_are_refused(open_results, tmp_path):
    results = open_results()
    results.path.parent.mkdir()
    results.path.write_text("something,else\n1,2\n")
    with pytest.raises(SystemExit, match="other columns than method, seed, value"):
        open_results()


def test_summaries_by_hand():
    from common.results import markdown_table, numbers, seconds, share_error, with_error

    rows = [{"x": "1"}, {"x": ""}, {"x": "3"}]
    np.testing.assert_array_equal(numbers(rows, "x"), [1, 3])
    assert with_error(np.array([1.0, 3.0]), 1) == "2.0 ± 1.0"
    assert with_error(np.array([2.0]), 1) == "2.0"
    assert with_error(np.array([]), 1) == "-"
    assert share_error(np.zeros(8)) == pytest.approx(np.sqrt(0.1 * 0.9 / 10))
    assert [seconds(value) for value in (0.01234, 12.34, 1234.5)] == ["0.0123", "12.3", "1234"]
    assert markdown_table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
