"""Selectors beyond annealing: the other papers' methods, with the estimators' face."""

__all__: list[str] = []
