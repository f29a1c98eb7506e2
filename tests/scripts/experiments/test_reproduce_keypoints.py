import sys

import numpy as np
import pytest

from annealed.features.pool import WindowPool
from annealed.models import LogitBoost
from annealed.models.keypoints.training.classifier_fitting import TrainingSet
from annealed.models.keypoints.training.mining import Examples, no_examples


@pytest.fixture
def examples():
    """Noise, the positives brighter in the middle."""
    rng = np.random.default_rng(0)

    def draw(n, positive):
        patches = rng.integers(0, 160, size=(n, 26, 26, 3), dtype=np.uint8)
        patches[:, 8:18, 8:18] += np.uint8(60 * positive)
        return Examples(patches, np.zeros((n, 4), dtype=np.int32))

    return TrainingSet(draw(60, True), draw(150, False), 150, no_examples())


def test_boosted_classifier_scores_like_logitboost(examples):
    from reproduce_keypoints import fit_boosted

    pool = WindowPool.default()[864::900]
    classifier = fit_boosted("chin", pool, examples, 12)
    patches = np.concatenate([examples.positives.patches, examples.negatives.patches])
    low, high = pool.ranges(patches)
    codes = pool.codes(patches, low, high).T.astype(np.float32)
    labels = np.arange(210) < 60
    weight = np.where(labels, 1 / 60, 1 / 150)
    boost = LogitBoost(12, learner="constant", n_bins=10, learner_fraction=0.1, random_state=0)
    expected = boost.fit(codes, labels, sample_weight=weight).decision_function(codes)
    np.testing.assert_allclose(classifier.scores(patches), expected, rtol=1e-4, atol=1e-4)
    assert (classifier.scores(examples.positives.patches) > 0).mean() > 0.9


@pytest.mark.parametrize("method", ["fsa-logistic", "svm-pl-hog"])
def test_fit_uses_the_methods_features(examples, method):
    from reproduce_keypoints import fit

    pool = WindowPool.default()[864::900]
    classifier, seconds = fit(method, "chin", pool, examples, 9)
    assert len(classifier.pool) == (864 if method == "svm-pl-hog" else 9)
    assert seconds > 0


def test_unknown_method(monkeypatch, capsys):
    import reproduce_keypoints

    monkeypatch.setattr(
        sys, "argv", ["reproduce_keypoints.py", "m.safetensors", "--methods", "fsa-lorenz,magic"]
    )
    with pytest.raises(SystemExit):
        reproduce_keypoints.main()
    assert "unknown methods magic" in capsys.readouterr().err
