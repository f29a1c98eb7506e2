"""Candidate segmentations of generated rigid motions."""

import numpy as np
import pytest

from annealed.features.errors import DataError, ParameterError
from annealed.models.motion import candidates, disagreement, segmentation_features
from annealed.models.motion.candidates import (
    Candidate,
    distinct,
    plausible,
    renumbered,
    trajectory_clustering,
    velocity_clustering,
)


@pytest.mark.parametrize("n_motions", [2, 3])
@pytest.mark.parametrize("pool", ["paper", "large", "widest"])
def test_a_candidate_recovers_rigid_motions(rng, n_motions, pool, rigid_motions):
    positions, truth = rigid_motions(rng, n_motions)
    found = candidates(positions, n_motions, pool=pool)
    assert min(disagreement(candidate.labels, truth) for candidate in found) <= 0.02
    assert len({candidate.labels.tobytes() for candidate in found}) == len(found)


def test_renumbering_and_repetitions():
    np.testing.assert_array_equal(renumbered(np.array([2, 2, 0, 1, 0])), [0, 0, 1, 2, 1])
    same = [Candidate(np.array([0, 1]), "velocity", {"d": d}) for d in (4, 5)]
    (kept,) = distinct(same)
    assert kept.parameters == {"d": 4}
    assert kept.repetitions == (same[1],)


@pytest.mark.parametrize(
    ("shape", "n_motions", "error", "message"),
    [
        ((5, 6, 2), 1, ParameterError, "from 2 to 5"),
        ((5, 6, 2), 6, ParameterError, "from 2 to 5"),
        ((5, 2, 2), 2, DataError, "3 are needed"),
        ((5, 6, 3), 2, DataError, "shape"),
    ],
)
def test_bad_problems_are_refused(rng, shape, n_motions, error, message):
    with pytest.raises(error, match=message):
        candidates(rng.standard_normal(shape), n_motions)


def test_tracks_that_are_not_finite_or_do_not_move_are_refused(rng, rigid_motions):
    positions, _ = rigid_motions(rng, 2)
    with pytest.raises(DataError, match="no track moves"):
        candidates(np.repeat(positions[:, :1], 5, axis=1), 2)
    positions[3, 2, 0] = np.nan
    with pytest.raises(DataError, match="not finite"):
        candidates(positions, 2)


@pytest.mark.real_data
def test_oracle_of_some_hopkins_sequences(data_folder):
    from annealed.datasets.tracks.hopkins import read_hopkins

    errors = []
    for name in ("arm", "cars1", "1R2RC", "truck2"):
        tracks = read_hopkins(data_folder / "hopkins155" / name / f"{name}_truth.mat")
        found = candidates(tracks.positions, tracks.n_motions)
        errors.append(min(disagreement(candidate.labels, tracks.labels) for candidate in found))
    assert np.mean(errors) < 0.01


def test_generators_take_other_dimensions_and_alphas(rng, rigid_motions):
    positions, truth = rigid_motions(rng, 2)
    found = velocity_clustering(positions, 2, alpha=4.0, dimensions=(3, 5))
    assert [candidate.parameters for candidate in found] == [{"d": d, "alpha": 4.0} for d in (3, 4, 5)]
    found = trajectory_clustering(positions, 2)
    assert {candidate.generator for candidate in found} == {"trajectory"}
    assert len(found) == 5
    assert min(disagreement(candidate.labels, truth) for candidate in found) <= 0.02


def test_a_candidate_with_a_handful_of_tracks_is_dropped_unless_all_are_such():
    labels = np.zeros(100, dtype=np.int64)
    few, enough, missing = labels.copy(), labels.copy(), labels
    few[:4], enough[:5] = 1, 1
    found = [Candidate(array, "velocity", {}) for array in (few, enough, missing)]
    assert plausible(found, 2) == found[1:2]
    assert plausible([found[0], found[2]], 2) == [found[0], found[2]]
    assert plausible(found, 2, least_share=0) == found
    assert plausible(found, 2, least_share=0.11) == found


def test_tracks_of_a_flat_body_that_only_drifts_are_segmented(rng):
    # All tracks of a motion are the same up to an offset: their velocities have rank one.
    offsets = rng.uniform(0, 100, (24, 1, 2))
    frames = np.arange(6)[None, :, None]
    drift = np.repeat([[[3.0, 1.0]], [[-2.0, 4.0]]], 12, axis=0)
    positions = offsets + drift * frames
    for pool in ("paper", "large", "widest"):
        found = candidates(positions, 2, pool=pool)
        labelings = [candidate.labels for candidate in found]
        assert np.isfinite(segmentation_features(positions, 2, labelings)).all()


def test_an_unknown_pool_is_refused(rng, rigid_motions):
    positions, _ = rigid_motions(rng, 2)
    with pytest.raises(ParameterError, match="pool must be one of"):
        candidates(positions, 2, pool="small")
