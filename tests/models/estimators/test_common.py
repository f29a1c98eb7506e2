"""What scikit-learn asks of an estimator, of all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from annealed.models import FSAClassifier, FSAClassifierCV, FSARanker, FSARegressor, FSARegressorCV

# One of each class, because options have tests of their own. Runs are short: the checks take some hundred.
ESTIMATORS = [
    FSAClassifier(k=3, n_iter=100),
    FSARegressor(k=3, n_iter=100, response="piecewise"),
    FSARanker(k=3, n_iter=50),
    FSAClassifierCV(k=[1, 2], n_iter=50, cv=2),
    FSARegressorCV(k=[1, 2], n_iter=50, cv=2),
]


# Some of the checks' tables have fewer features than k.
@pytest.mark.filterwarnings("ignore:k = :UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_estimator_checks(estimator, check):
    check(estimator)
