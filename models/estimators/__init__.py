"""The scikit-learn face of the annealing core."""
