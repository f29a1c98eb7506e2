"""The table of weak signals, on small ones."""


def test_a_row_for_every_estimator_of_every_problem(capsys):
    from reproduce_weak_signals import main

    main(["--runs", "2", "--rows", "80", "--columns", "40", "--wide", "60"])
    lines = capsys.readouterr().out.splitlines()
    methods: dict[str, set[str]] = {}
    for line in lines[2:]:
        data, method = (cell.strip() for cell in line.split("|")[1:3])
        methods.setdefault(data, set()).add(method)
    assert len(methods) == 4
    assert all({"default", "correlation filter", "lasso"} <= found for found in methods.values())
    assert all(0 <= float(line.split("|")[3].split("±")[0]) <= 100 for line in lines[2:])
