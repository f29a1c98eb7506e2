import numpy as np
import pytest
from numba import config, njit

from annealed.app import compiling
from annealed.app.progress import Bars, Stage, Timeline, warn, warn_of_problems


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


ROUNDS = [
    Stage("annealing nose", "round 0 of 2", 2.0),
    *(
        Stage(phase, f"round {n} of 2", w)
        for n in (1, 2)
        for phase, w in (("scan", 3.0), ("annealing nose", 2.0))
    ),
]


def test_work_that_is_soon_over_is_silent_without_a_terminal(capfd, clock):
    with Bars(now=clock) as bars:
        bars.update("scan", 0, 2)
        bars.update("scan", 2, 2)
        bars.update("annealing", 1, 9)
    assert capfd.readouterr() == ("", "")


def test_long_work_prints_a_line_now_and_then(capfd, clock):
    with Bars(now=clock) as bars:
        bars.update("scan", 0, 200)
        for done in range(1, 101):
            clock.seconds += 1.0
            bars.update("scan", done, 200)
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 6
    assert lines[1] == "annealed: scan 30 of 200; 30 s gone, about 2 min 50 s left"


def test_a_terminal_shows_one_bar(capfd, clock, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bars = Bars(ROUNDS, now=clock)
    assert not bars._progress.disable
    with bars:
        for phase in ("annealing nose", "scan", "annealing nose"):
            bars.update(phase, 1, 2)
            clock.seconds += 5
        bars.update(phase, 2, 2)
    (task,) = bars._progress.tasks
    assert task.description == "round 1 of 2: annealing nose 2 of 2"
    assert 0 < task.completed < 1


def test_time_left_comes_from_stages_of_the_same_kind(clock):
    line = Timeline(ROUNDS, clock)
    line.update("annealing nose", 0, 500)
    assert line.left is None
    clock.seconds += 10
    line.update("annealing nose", 250, 500)
    assert line.left is None  # no scan was met yet
    clock.seconds += 10  # it stops early: annealing took 20 s
    line.update("scan", 0, 80)
    assert line.left == pytest.approx(30 + 20 + 30 + 20)  # a scan takes 3 / 2 times as long, by its weight
    clock.seconds += 50
    line.update("annealing nose", 0, 500)
    assert line.left == pytest.approx(20 + 50 + 20)
    assert line.share == pytest.approx(70 / 160)
    assert line.describe() == "round 1 of 2: annealing nose 0 of 500"


def test_a_run_that_is_resumed_begins_later(clock):
    line = Timeline(ROUNDS[3:], clock)
    line.update("scan", 1, 4)
    assert line.stage.label == "round 2 of 2"


def test_phases_that_were_not_planned_are_shown_all_the_same(clock):
    line = Timeline(ROUNDS, clock)
    line.update("surprise", 1, 2)
    assert line.describe() == "surprise 1 of 2"
    line.update("annealing nose", 1, 2)
    assert line.stage.label == "round 0 of 2"
    line.update("another", 1, 2)
    assert line.describe() == "round 0 of 2: another 1 of 2"
    line.update("scan", 1, 2)
    assert line.stage.label == "round 1 of 2"


def test_the_log_has_a_line_a_stage(tmp_path, clock):
    log = tmp_path / "train.log"
    with Bars(ROUNDS, log=log, now=clock) as bars:
        bars.update("annealing nose", 1, 500)
        clock.seconds += 83
        bars.update("annealing nose", 253, 500)
        bars.update("scan", 1, 80)
    lines = [line[20:] for line in log.read_text().splitlines()]
    assert lines[0].startswith("round 0 of 2: annealing nose 253 of 500; 1 min 23 s gone")
    assert lines[1] == "done after 1 min 23 s"


def test_the_log_says_what_ended_a_run(tmp_path, clock):
    log = tmp_path / "train.log"

    def interrupted():
        with Bars(log=log, now=clock) as bars:
            bars.update("scan", 1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert log.read_text().rstrip().endswith("ended by KeyboardInterrupt after less than a second")


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_compilation_that_takes_long_is_mentioned_once(capfd, monkeypatch):
    monkeypatch.setattr(compiling, "NOTICE_AFTER_S", 0.0)
    with Bars():
        for power in (2, 3):
            njit(lambda x, power=power: x**power)(np.ones(3))
    assert capfd.readouterr().err == f"annealed: {compiling.NOTICE}\n"


def test_warn_is_one_line_on_stderr(capsys):
    warn("two\nlines")
    assert capsys.readouterr() == ("", "annealed: two lines\n")


def test_warn_of_problems_counts_what_it_does_not_show(capsys):
    warn_of_problems(["a", "b", "c"], shown=2)
    assert capsys.readouterr().err.splitlines() == [
        "annealed: a",
        "annealed: b",
        "annealed: ... and 1 more problem of this kind",
    ]
