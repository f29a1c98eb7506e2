"""Selectors by name: swapping one for another is one word.

>>> from annealed.models.selection.registry import make_selector
>>> make_selector("mrmr", 5)
FilterSelector(criterion='mrmr', k=5)
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sklearn.base import BaseEstimator

from ...features.errors import ParameterError
from ..estimators import FSAClassifier, FSARegressor
from ..target_kinds import CLASSIFICATION, REGRESSION
from .embedded import EmbeddedSelector
from .fgm import FeatureGeneratingMachine
from .filters import FilterSelector
from .lp_inf import L21Selector, LpInfSelector
from .screening import ScreenedLasso
from .stability import StabilitySelector
from .wrappers import WrapperSelector

BOTH = (CLASSIFICATION, REGRESSION)


@dataclass(frozen=True)
class Method:
    """How to make a selector.

    Attributes
    ----------
    make : callable
        make(k, task, random_state) -> estimator.
    tasks : tuple of str
    requires : str or None
        A package that need not be installed.
    slow : bool
        Whether many features make it too slow for a comparison.
    variant : bool
        Whether it is another method of the table in another setting; only its name brings it in.
    """

    make: Callable[[int, str | None, Any], BaseEstimator]
    tasks: tuple[str, ...] = BOTH
    requires: str | None = None
    slow: bool = False
    variant: bool = False

    @property
    def installed(self) -> bool:
        """Whether what it needs is there."""
        return self.requires is None or find_spec(self.requires) is not None


def _fsa(response: str) -> Method:
    def make(k, task, random_state):
        estimator = FSAClassifier if task == CLASSIFICATION else FSARegressor
        return estimator(k, response=response, random_state=random_state)

    return Method(make)


def _fsa_with(**options) -> Method:
    """Annealed classification in another setting."""

    def make(k, task, random_state):
        return FSAClassifier(k, random_state=random_state, **options)

    return Method(make, (CLASSIFICATION,), variant=True)


def _filter(criterion: str, tasks: tuple[str, ...] = BOTH) -> Method:
    def make(k, task, random_state):
        stochastic = {"random_state": random_state} if criterion in ("mutual-information", "relieff") else {}
        # the task is said only where y alone would be read otherwise
        known = {} if task is None else {"task": task}
        return FilterSelector(k, criterion=criterion, **known, **stochastic)

    return Method(make, tasks)


def _wrapper(search: str) -> Method:
    def make(k, task, random_state):
        return WrapperSelector(k, search=search, task=task or "auto", random_state=random_state)

    return Method(make, slow=search != "backward")


def _embedded(penalty: str, requires: str | None = None) -> Method:
    return Method(
        lambda k, task, seed: EmbeddedSelector(k, penalty=penalty, task=task or "auto"), requires=requires
    )


def _stable(name: str, method: Method) -> Method:
    """What a method selects most often on halves of the samples."""

    def make(k, task, random_state):
        known = {} if task is None else {"task": task}
        return StabilitySelector(k, selector=name, random_state=random_state, **known)

    return Method(make, method.tasks, method.requires, slow=True, variant=True)


METHODS: dict[str, Method] = {
    "fsa": _fsa("linear"),
    "fsa-piecewise": _fsa("piecewise"),
    "fsa-lorenz": _fsa_with(loss="lorenz"),
    "fsa-logistic": _fsa_with(loss="logistic"),
    "fsa-huber": _fsa_with(loss="huber"),
    # Algorithm 1 to the letter
    "fsa-printed": _fsa_with(loss="logistic", momentum=0.0, batch_size=None),
    "fgm": Method(lambda k, task, seed: FeatureGeneratingMachine(k), (CLASSIFICATION,)),
    "lp-inf": Method(lambda k, task, seed: LpInfSelector(k)),
    "l21": Method(lambda k, task, seed: L21Selector(k)),
    "screened-lasso": Method(lambda k, task, seed: ScreenedLasso(k, ratio=1e-3), (REGRESSION,)),
    "f": _filter("f"),
    "pearson": _filter("pearson"),
    "mutual-information": _filter("mutual-information"),
    "chi2": _filter("chi2", (CLASSIFICATION,)),
    "gini": _filter("gini"),
    "relieff": _filter("relieff"),
    "mrmr": _filter("mrmr"),
    "backward": _wrapper("backward"),
    "forward": _wrapper("forward"),
    "exhaustive": _wrapper("exhaustive"),
    "simulated-annealing": _wrapper("simulated-annealing"),
    "l1": _embedded("l1"),
    "elastic-net": _embedded("elastic-net"),
    "mcp": _embedded("mcp", "pycasso"),
    "scad": _embedded("scad", "pycasso"),
    "tisp": _embedded("tisp"),
}


METHODS["stable-fsa"] = _stable("fsa", METHODS["fsa"])
STABLE = "stable-"  # before the name of any other method


def method_named(name: str) -> Method:
    """Return a method; raise ParameterError, which lists them all, where none has that name."""
    inner = name.removeprefix(STABLE)
    if name not in METHODS and (inner == name or inner not in METHODS):
        known = ", ".join(METHODS)
        raise ParameterError(
            f"no method is named {name!r}; there are {known}, and each with {STABLE} before it"
        )
    return METHODS[name] if name in METHODS else _stable(inner, METHODS[inner])


def make_selector(name: str, k: int, *, task: str | None = None, random_state: Any = 0) -> BaseEstimator:
    """Return an unfitted selector.

    Parameters
    ----------
    name : str
        A key of `METHODS`, with "stable-" before it for what it selects most often on halves of the samples.
    k : int
    task : {"classification", "regression"}, optional
        Needed where there is an estimator for each: "fsa" is a regressor without it.
    random_state : int, RandomState or None

    Raises
    ------
    ParameterError
        No method has that name, it is for the other task, or its package is not installed.
    """
    method = method_named(name)
    if task is not None and task not in method.tasks:
        raise ParameterError(f"method {name!r} is for {method.tasks[0]}; the target asks for {task}")
    if not method.installed:
        raise ParameterError(f"method {name!r} needs the package {method.requires}; it is not installed")
    return method.make(k, task, random_state)


def methods_for(task: str, *, slow: bool = False) -> list[str]:
    """Return the names of the methods that can be used for a task here."""
    return [
        name
        for name, method in METHODS.items()
        if task in method.tasks and method.installed and not method.variant and (slow or not method.slow)
    ]
