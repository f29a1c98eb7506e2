"""The Feature Generating Machine: sparse classifiers by cutting planes, for very many features.

losses         squared hinge and logistic, their duals, the intercept
subproblem     the l1-squared problem over the generated features, with its Moreau projection
cutting_plane  generate the most violated set of features, solve, repeat
atoms          what is selected: features, groups, trees of groups, and their worst-case analysis
products       second-order products of features, never built as a whole
kernels        additive kernels, expanded as groups of columns
fitted         the model that is left, and its responses
estimator      the scikit-learn face
"""

from .estimator import FeatureGeneratingMachine

__all__ = ["FeatureGeneratingMachine"]
