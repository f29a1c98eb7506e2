"""The experiment: folds, cross-validation against a loop, baselines and summaries."""

import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.motion.candidates import Candidate
from annealed.models.motion.description import feature_names
from annealed.models.motion.experiment import (
    ARGMIN_FEATURES,
    BoostedRanker,
    RankingProblem,
    assign_folds,
    baselines,
    by_group,
    cross_validate,
    describe,
)


def made_up(rng, n_sequences=12, n_motions=2, category="traffic"):
    """Sequences of four candidates (d = 4, 5 with a repetition 6, 8, and SSC), two a video."""
    described = []
    for i in range(n_sequences):
        errors = rng.permutation(4) / 10
        table = rng.random((4, len(feature_names())))
        table[:, 7] = errors + rng.uniform(0, 3)
        table[:, feature_names().index(ARGMIN_FEATURES[0])] = errors[::-1]
        labels = np.array([0, 1])
        found = [
            Candidate(labels, "velocity", {"d": 4}),
            Candidate(labels, "velocity", {"d": 5}, (Candidate(labels, "velocity", {"d": 6}),)),
            Candidate(labels, "velocity", {"d": 8}),
            Candidate(labels, "ssc", {}),
        ]
        described.append(RankingProblem(f"s{i}", f"v{i // 2}", category, n_motions, found, table, errors))
    return described


def test_folds_keep_videos_together_and_are_of_nearly_equal_size():
    videos = np.repeat([f"v{i}" for i in range(23)], [1, 2, 3] * 7 + [1, 1])
    folds = assign_folds(videos, seed=3)
    for video in np.unique(videos):
        assert len(set(folds[videos == video].tolist())) == 1
    sizes = [len(set(videos[folds == f])) for f in range(10)]
    assert sorted(set(sizes)) == [2, 3]
    np.testing.assert_array_equal(folds, assign_folds(videos, seed=3))
    assert (folds != assign_folds(videos, seed=4)).any()


@pytest.mark.parametrize("n_folds", [1, 4])
def test_folds_must_not_outnumber_the_videos(n_folds):
    with pytest.raises(ParameterError, match="from 2 to 3"):
        assign_folds(["a", "b", "c"], 0, n_folds)


class Memory:
    """Ranks rightly what it was trained on, and the last candidate first of anything else."""

    def fit_candidates(self, tables, errors):
        self.known = {
            table.tobytes(): -np.asarray(error) for table, error in zip(tables, errors, strict=True)
        }
        return self

    def score(self, table):
        return self.known.get(table.tobytes(), np.arange(len(table)))


def test_no_sequence_is_tested_by_a_ranker_that_knows_it(rng):
    described = made_up(rng)
    calls = []
    result = cross_validate(described, Memory, seed=0, n_folds=3, report=lambda *done: calls.append(done))
    np.testing.assert_array_equal(result.test, [s.errors[-1] for s in described])
    np.testing.assert_allclose(result.train, [s.errors.min() for s in described])
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_the_boosted_ranker_finds_what_tells(rng):
    described = made_up(rng)
    result = cross_validate(described, lambda: BoostedRanker(n_rounds=20), seed=0, n_folds=3)
    assert result.test.mean() <= 0.02
    with pytest.raises(ParameterError, match="form must be one of"):
        BoostedRanker(form="other").fit_candidates([described[0].table], [described[0].errors])


def test_baselines_by_hand(rng):
    described = made_up(rng)
    found = baselines(described)
    np.testing.assert_array_equal(found["oracle"], np.zeros(12))
    np.testing.assert_allclose(found["random candidate"], np.full(12, 0.15))
    np.testing.assert_array_equal(found["SSC alone"], [s.errors[3] for s in described])
    np.testing.assert_array_equal(
        found["least squared distance"], [s.errors[3 - np.argmin(s.errors)] for s in described]
    )
    # 6 is a repetition of 5, and the nearest to 7
    by_dimension = np.array([s.errors[[0, 1, 1, 1, 2]] for s in described])
    assert found["best fixed d"].mean() == pytest.approx(by_dimension.mean(axis=0).min())


def test_there_is_no_ssc_alone_in_a_pool_without_it(rng):
    described = [
        RankingProblem(s.name, s.video, s.category, 2, s.candidates[:3], s.table[:3], s.errors[:3])
        for s in made_up(rng)
    ]
    assert "SSC alone" not in baselines(described)


def test_groups_are_those_of_table_7(rng):
    described = [*made_up(rng, 4), *made_up(rng, 2, category="articulated"), *made_up(rng, 2, n_motions=3)]
    errors = np.array([[0, 0.1, 0.2, 0.7, 0.4, 0.6, 0.5, 0.3]])
    rows = by_group(described, errors)
    keys = [(row.n_motions, row.category, row.n_sequences) for row in rows]
    assert keys == [
        (2, "traffic", 4),
        (2, "articulated", 2),
        (2, None, 6),
        (3, "traffic", 2),
        (3, None, 2),
        (None, None, 8),
    ]
    np.testing.assert_allclose(rows[0].average, 0.25)
    np.testing.assert_allclose(rows[0].median, 0.15)
    np.testing.assert_allclose(rows[-1].average, errors.mean())
    twice = by_group(described, np.concatenate([errors, errors + 0.1]))
    np.testing.assert_allclose(twice[0].median, 0.2)


def test_tracks_are_described_with_their_candidates_errors(rng, rigid_motions):
    positions, labels = rigid_motions(rng, 2, n_points=12, n_frames=8)
    described = describe(positions, labels, name="bodies", video="bodies")
    assert described.table.shape == (len(described.candidates), len(feature_names()))
    assert described.errors.min() == 0
    assert described.n_motions == 2
