"""How the smallest kernels are compiled."""

from typing import Any

LEAF: dict[str, Any] = {"cache": True, "_nrt": False}
"""Options of `numba.njit` for kernels that allocate nothing: ``@njit(**LEAF)``.

Without them numba counts references to every array at every call, with atomic operations that take a
hundred nanoseconds, which is more than one feature of 64 windows takes.
"""

INNER: dict[str, Any] = {**LEAF, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""The same for kernels that only other kernels call: they compile in two thirds of the time."""
