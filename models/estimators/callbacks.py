"""Whoever follows a fit: our own callback, and the callbacks of scikit-learn from version 1.9 on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..annealing import Progress

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
except ImportError:  # an older scikit-learn has no such protocol

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing to support."""


@contextmanager
def followed(estimator) -> Iterator[None]:
    """Let scikit-learn's callbacks see a fit as one task; its end is told only if it comes."""
    if not hasattr(estimator, "_skl_callbacks"):
        yield
        return
    # How many iterations there will be is not known: training ends once the survivors have converged.
    task = estimator._init_callback_context(max_subtasks=None)
    task.call_on_fit_task_begin(estimator=estimator)
    yield
    task.call_on_fit_task_end(estimator=estimator)


def each_iteration(estimator) -> Callable[[Progress], None] | None:
    """Return what an annealing run is to call: the estimator's callback and scikit-learn's."""
    task = getattr(estimator, "_callback_fit_ctx", None)
    if task is None:
        return estimator.callback

    def tell(progress: Progress) -> None:
        if estimator.callback is not None:
            estimator.callback(progress)
        iteration = task.subcontext(task_name="iteration").call_on_fit_task_begin(estimator=estimator)
        iteration.call_on_fit_task_end(estimator=estimator)

    return tell
