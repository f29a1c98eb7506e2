"""Comparators on the same footing as the annealed estimators."""
