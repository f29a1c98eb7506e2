import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from annealed.features import threads
from annealed.features.errors import ParameterError
from annealed.features.threads import get_num_threads, in_threads, one_blas_thread, set_num_threads, share


@pytest.fixture(autouse=True)
def two_threads():
    before = get_num_threads()
    set_num_threads(2)
    yield
    set_num_threads(before)


def python(code, **environment):
    """Run a program in a process of its own and return what it prints."""
    process = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_results_come_in_the_order_of_the_items(with_threads):
    for found in with_threads(lambda: list(in_threads(lambda i: i * i, range(50)))):
        assert found == [x * x for x in range(50)]


def meet(barrier):
    try:
        barrier.wait()
    except threading.BrokenBarrierError:
        return False
    return True


def test_as_many_threads_as_wanted():
    both = threading.Barrier(2, timeout=20)
    assert list(in_threads(lambda _: meet(both), range(2))) == [True, True]
    set_num_threads(1)
    both = threading.Barrier(2, timeout=0.05)
    assert list(in_threads(lambda _: meet(both), range(2))) == [False, False]


def test_the_calling_thread_takes_part():
    names = []
    share(100, lambda start, stop: names.append(threading.current_thread()) or time.sleep(0.001))
    assert threading.current_thread() in names


def test_an_error_reaches_the_caller(with_threads):
    def failing(x):
        raise ValueError(f"item {x}")

    def call():
        with pytest.raises(ValueError, match="item 0"):
            list(in_threads(failing, range(3)))
        with pytest.raises(ValueError, match="item 0"):
            share(3, lambda start, stop: failing(start))

    with_threads(call)


def test_after_an_error_nothing_runs_on():
    done = []

    def failing(x):
        if x == 0:
            raise ValueError("no")
        time.sleep(0.01)
        done.append(x)

    with pytest.raises(ValueError, match="no"):
        list(in_threads(failing, range(50)))
    after = len(done)
    time.sleep(0.05)
    assert len(done) == after < 49


@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("least", [0, 1, 3, 1000])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_ranges_cover_everything_once(n, least, n_threads):
    set_num_threads(n_threads)
    counts = np.zeros(n, dtype=int)
    ranges = []

    def work(start, stop):
        ranges.append((start, stop))
        counts[start:stop] += 1

    share(n, work, least)
    assert (counts == 1).all()
    assert len(ranges) <= threads.RANGES_A_THREAD * n_threads
    assert len(ranges) == 1 or all(stop - start >= least for start, stop in ranges)
    if n_threads == 1:
        assert len(ranges) == min(n, 1)


def test_within_a_task_nothing_is_shared_out_again():
    def task(_):
        here = threading.current_thread()
        seen = []
        share(20, lambda start, stop: seen.append(threading.current_thread()))
        seen += in_threads(lambda _: threading.current_thread(), range(5))
        return set(seen) == {here}

    assert all(in_threads(task, range(8)))


def test_two_threads_may_call_at_once():
    set_num_threads(3)
    results = {}

    def call(name):
        for _ in range(50):
            found = np.zeros(64)

            def work(start, stop):
                found[start:stop] += np.arange(start, stop)  # noqa: B023

            share(64, work)
            results.setdefault(name, []).append(found.sum())

    callers = [threading.Thread(target=call, args=(name,)) for name in "abcd"]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert results == {name: [64 * 63 / 2] * 50 for name in "abcd"}


def test_numpys_error_state_holds_in_every_thread():
    huge = np.array([1e308])
    with np.errstate(over="ignore"):
        assert list(in_threads(lambda _: float((huge * 10)[0]), range(8))) == [np.inf] * 8


def test_an_abandoned_call_keeps_nothing():
    results = in_threads(lambda x: x, range(100))
    assert next(results) == 0
    results.close()
    assert not threads._helpers._calls


def test_without_threads_to_be_had_the_caller_does_it(monkeypatch):
    def no_thread(*_, **__):
        raise RuntimeError("can't start new thread")

    threads._forget_helpers()
    monkeypatch.setattr(threads.threading, "Thread", no_thread)
    assert list(in_threads(lambda x: -x, range(9))) == [-x for x in range(9)]
    threads._forget_helpers()


FORK = """
import os
from annealed.features.threads import share, set_num_threads, in_threads
set_num_threads(2)
assert sum(in_threads(int, "123")) == 6
child = os.fork()
total = sum(in_threads(int, "123456"))
if child == 0:
    os._exit(0 if total == 21 else 1)
print(os.waitpid(child, 0)[1], total)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_both_sides_of_a_fork_go_on():
    assert python(FORK) == "0 21\n"


COUNT = "from annealed.features.threads import get_num_threads; print(get_num_threads())"


def test_the_number_of_threads_comes_from_the_environment():
    assert python(COUNT, ANNEALED_NUM_THREADS="3", NUMBA_NUM_THREADS="5") == "3\n"
    assert python(COUNT, ANNEALED_NUM_THREADS="", NUMBA_NUM_THREADS="5") == "5\n"
    assert int(python(COUNT, ANNEALED_NUM_THREADS="", NUMBA_NUM_THREADS="")) <= (os.cpu_count() or 1)


@pytest.mark.parametrize("n", [0, -1])
def test_a_number_below_one_is_refused(n):
    with pytest.raises(ParameterError, match="at least 1"):
        set_num_threads(n)


@pytest.mark.parametrize("text", ["none", "0", "1.5"])
def test_a_variable_that_is_no_number_is_refused(monkeypatch, text):
    monkeypatch.setenv("ANNEALED_NUM_THREADS", text)
    with pytest.raises(ParameterError, match="ANNEALED_NUM_THREADS"):
        threads._from_environment()


def test_matrix_products_take_one_thread_within_and_as_many_as_before_after():
    def blas_threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert one_blas_thread(blas_threads)() == {1}
        assert blas_threads() == before
