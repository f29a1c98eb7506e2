"""The table of weak signals, on small ones."""


def test_a_row_for_every_estimator_of_every_problem(capsys):
    from reproduce_weak_signals import main

    main(["--runs", "2", "--rows", "80", "--columns", "40", "--wide", "60"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 4 * 2
    assert all(0 <= float(line.split("|")[3].split("±")[0]) <= 100 for line in lines[2:])
