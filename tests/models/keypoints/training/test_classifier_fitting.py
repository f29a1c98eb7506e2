import numpy as np
import pytest

from annealed.features.channels.haar import HAAR
from annealed.features.errors import DataError, ParameterError
from annealed.features.pool import WindowPool
from annealed.models.keypoints.training.classifier_fitting import FitConfig, TrainingSet, fit_classifier
from annealed.models.keypoints.training.mining import Examples, no_examples
from annealed.models.keypoints.training.phases import Phases
from annealed.models.knots import sum_responses


@pytest.fixture
def pool():
    """A few HOG and a few Haar features."""
    full = WindowPool.default()
    rng = np.random.default_rng(0)
    haar = rng.choice(np.flatnonzero(full.belongs_to(HAAR)), 150, replace=False)
    return full[np.concatenate([np.arange(0, 864, 8), haar])]


def make_examples(n, bright, seed):
    """Windows of noise; with `bright` there is a bright square in the middle."""
    patches = np.random.default_rng(seed).integers(0, 160, size=(n, 26, 26, 3), dtype=np.uint8)
    if bright:
        patches[:, 9:17, 9:17] += 60
    return Examples(patches, np.zeros((n, 4), dtype=np.int32))


@pytest.fixture
def examples():
    return TrainingSet(
        positives=make_examples(120, True, 0),
        negatives=make_examples(400, False, 1),
        n_random=300,
        held_out=make_examples(40, True, 2),
    )


def fit(pool, examples, **options):
    rule = FitConfig(**{"k": 12, "n_iter": 60, **options})
    return fit_classifier("spot", pool, examples, rule, 0, -1.0, Phases())


@pytest.mark.parametrize("loss", ["lorenz", "logistic", "huber"])
def test_fit_classifier_tells_new_windows_apart(pool, examples, loss):
    classifier, trace = fit(pool, examples, loss=loss)
    assert len(classifier.pool) == 12
    assert (classifier.scores(make_examples(50, True, 3).patches) > 0).mean() > 0.95
    assert (classifier.scores(make_examples(50, False, 4).patches) < 0).mean() > 0.95
    assert trace.features_kept[-1] == 12


def test_fit_classifier_selects_features_that_see_the_square(pool, examples):
    """The pool has features all over the window; those chosen read the square's pixels or its edges."""
    classifier, _ = fit(pool, examples, k=6)
    for j in range(6):
        parts = [mark for mark in classifier.pool.draw(j) if mark.weight]
        assert any(r < 17 and r + h > 7 and c < 17 and c + w > 7 for r, c, h, w, *_ in parts)


def test_fit_classifier_is_a_function_of_its_arguments(pool, examples):
    first, second = fit(pool, examples)[0], fit(pool, examples)[0]
    for name in ("tables", "floors", "rejection"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.pool.descriptors, second.pool.descriptors)


def test_fit_classifier_scores_equal_those_that_were_annealed(pool, examples):
    """The training loss recomputed from the finished classifier is the last of the trace."""
    classifier, trace = fit(pool, examples, n_iter=400, shrinkage=0.0, smoothness=0.0)
    margins = np.concatenate(
        [classifier.scores(examples.positives.patches), -classifier.scores(examples.negatives.patches)]
    )
    weight = np.concatenate([np.full(120, 0.5 / 120), np.full(400, 0.5 / 400)])
    lorenz = np.where(margins < 1, np.log1p((margins - 1) ** 2), 0.0)
    assert float(weight @ lorenz) == pytest.approx(trace.loss[-1], rel=0.02, abs=1e-4)


def test_cascade_lets_positives_through_and_saves_most_of_the_work(pool, examples):
    classifier, _ = fit(pool, examples, cascade_loss=0.0)
    codes = classifier.codes(np.concatenate([examples.positives.patches, examples.held_out.patches]))
    scores = sum_responses(classifier.tables, codes, classifier.intercept)
    for floor, thresholds in zip(classifier.floors, classifier.rejection, strict=True):
        sums = classifier.intercept + np.cumsum(
            np.take_along_axis(classifier.tables, codes.astype(np.int64), axis=1), axis=0, dtype=np.float32
        )
        through = (sums >= thresholds[:, None] - 1e-4).all(axis=0)
        assert through[scores >= floor].all()
    negatives = classifier.codes(make_examples(300, False, 5).patches)
    sums = classifier.intercept + np.cumsum(
        np.take_along_axis(classifier.tables, negatives.astype(np.int64), axis=1), axis=0
    )
    alive = np.logical_and.accumulate(sums >= classifier.cascade(0.5)[:, None], axis=0)
    assert alive[3].mean() < 0.5


def test_fit_classifier_k_larger_than_the_pool(pool, examples):
    with pytest.raises(ParameterError, match=f"k is 9999, more than the {len(pool)} features"):
        fit(pool, examples, k=9999)


def test_fit_classifier_one_class_only(pool, examples):
    lonely = TrainingSet(examples.positives, no_examples(), 0, no_examples())
    with pytest.raises(DataError, match="120 positives and 0 negatives"):
        fit(pool, lonely)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of"),
        ({"n_bins": 0}, "n_bins must be"),
        ({"n_batches": 0}, "n_batches must be at least 1"),
        ({"batch_rows": 0}, "batch_rows must be at least 1"),
        ({"cascade_loss": 1.0}, "cascade_loss must be"),
        ({"k": 0}, "k must be"),
        ({"mu": -1.0}, "mu must be"),
    ],
)
def test_fit_rule_refuses(option, message):
    with pytest.raises(ParameterError, match=message):
        FitConfig(**option)
