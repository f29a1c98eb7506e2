from annealed.app.progress import Bars, warn, warn_of_problems


def test_bars_are_silent_where_stderr_is_no_terminal(capfd):
    with Bars() as bars:
        bars.update("scan", 0, 2)
        bars.update("scan", 2, 2)
        bars.update("annealing", 1, 9)
    assert capfd.readouterr() == ("", "")


def test_warn_is_one_line_on_stderr(capsys):
    warn("two\nlines")
    assert capsys.readouterr() == ("", "annealed: two lines\n")


def test_warn_of_problems_counts_what_it_does_not_show(capsys):
    warn_of_problems(["a", "b", "c"], shown=2)
    assert capsys.readouterr().err.splitlines() == [
        "annealed: a",
        "annealed: b",
        "annealed: ... and 1 more problems of this kind",
    ]
