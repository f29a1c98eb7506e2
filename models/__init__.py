"""Numbers into decisions: the annealing core, estimators, comparators, detectors and rankers."""
