import pytest

from annealed.models.keypoints.training import phases
from annealed.models.keypoints.training.phases import Phases


def test_phases_add_up_time_by_name(monkeypatch):
    clock = iter([0.0, 2.0, 10.0, 11.0, 20.0, 24.0])
    monkeypatch.setattr(phases.time, "perf_counter", lambda: next(clock))
    watch = Phases()
    for phase in ("scan", "columns", "scan"):
        with watch.measure(phase):
            pass
    assert dict(watch.seconds) == {"scan": 6.0, "columns": 1.0}


def test_phases_count_the_time_of_a_phase_that_fails(monkeypatch):
    clock = iter([0.0, 3.0])
    monkeypatch.setattr(phases.time, "perf_counter", lambda: next(clock))
    watch = Phases()
    with pytest.raises(ZeroDivisionError), watch.measure("scan"):
        _ = 1 / 0
    assert watch.seconds["scan"] == 3.0


def test_phases_rates_are_work_a_second():
    watch = Phases()
    watch.seconds.update(scan=4.0, annealing=0.0, columns=1.0)
    watch.work.update(scan=20, annealing=7, cascade=3)
    assert watch.rates() == {"scan": 5.0}
