import threading

import pytest

from annealed.features.threads import in_threads


def test_results_come_in_the_order_of_the_items(with_threads):
    for found in with_threads(lambda: list(in_threads(lambda i: i * i, range(50)))):
        assert found == [x * x for x in range(50)]


def test_as_many_threads_as_numba_uses(with_threads):
    def names():
        both = threading.Barrier(2, timeout=0.2)

        def meet(_):
            try:
                both.wait()
            except threading.BrokenBarrierError:
                return False
            return True

        return list(in_threads(meet, range(2)))

    alone, together = with_threads(names)
    assert alone == [False, False]
    assert together == [True, True]


def test_an_error_reaches_the_caller(with_threads):
    def failing(x):
        raise ValueError(f"item {x}")

    def call():
        with pytest.raises(ValueError, match="item 0"):
            list(in_threads(failing, range(3)))

    with_threads(call)
