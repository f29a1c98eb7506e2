"""The ranker of candidate segmentations: training, ranking, its file."""

import numpy as np
import pytest

from annealed.features.errors import DataError, ParameterError
from annealed.models import load_model
from annealed.models.model_files import SHIPPED, read_model_file, write_model_file
from annealed.models.motion import MotionRanker, disagreement, feature_names
from annealed.models.motion.candidates import Candidate
from annealed.models.motion.cues import MotionCues
from annealed.models.motion.description import feature_kinds
from annealed.models.motion.pools import DescribedCandidates, names_of


def made_up_tables(rng, n_sequences=12, n_candidates=5):
    """Random features, of which one likelihood and one prior feature are the error and noise."""
    n_features = len(feature_names())
    tables, errors = [], []
    for _ in range(n_sequences):
        error = rng.permutation(n_candidates) / 10
        table = rng.random((n_candidates, n_features))
        table[:, 7] = error + rng.normal(0, 0.01, n_candidates) + rng.uniform(0, 3)
        table[:, -100] = error + rng.normal(0, 0.01, n_candidates)
        tables.append(table)
        errors.append(error)
    return tables, errors


@pytest.fixture
def fitted(rng):
    return MotionRanker(k=2, n_iter=60).fit_candidates(*made_up_tables(rng))


def test_the_features_that_tell_are_found_and_rank(rng, fitted):
    assert set(fitted.selected_names) == {feature_names()[7], feature_names()[-100]}
    for table, error in zip(*made_up_tables(rng), strict=True):
        assert np.argmax(fitted.score(table)) == np.argmin(error)


def test_relative_scores_do_not_see_a_sequence_s_own_level(rng, fitted):
    table = made_up_tables(rng)[0][0]
    np.testing.assert_allclose(fitted.score(table), fitted.score(table + 5.0))
    raw = MotionRanker(k=2, n_iter=60, form="raw").fit_candidates(*made_up_tables(rng))
    assert not np.allclose(raw.score(table), raw.score(table + 0.2))


def test_every_sequence_counts_once_however_many_candidates_it_has(rng):
    # One sequence of 12 candidates, 66 pairs, against eight of 3 candidates, 24 pairs.
    tables, errors = [], []
    for n_candidates, telling, misleading in [(12, 5, 9), *[(3, 9, 5)] * 8]:
        error = rng.permutation(n_candidates) / n_candidates
        table = np.zeros((n_candidates, len(feature_names())))
        table[:, telling], table[:, misleading] = error, error[::-1]
        tables.append(table)
        errors.append(error)
    ranker = MotionRanker(k=1, n_iter=60).fit_candidates(tables, errors)
    assert ranker.selected_names == [feature_names()[9]]


@pytest.mark.parametrize("kind", ["likelihood", "prior"])
def test_only_features_of_the_wanted_kind_are_chosen(rng, kind):
    ranker = MotionRanker(k=3, n_iter=60, features=kind).fit_candidates(*made_up_tables(rng))
    assert set(feature_kinds()[ranker.model_.features]) == {kind}


def test_a_ranker_of_tracks_finds_the_motions(rng, rigid_motions):
    sequences = [rigid_motions(rng, 2, n_points=12, n_frames=8) for _ in range(3)]
    ranker = MotionRanker(k=10, n_iter=50).fit(*zip(*sequences, strict=True))
    positions, truth = rigid_motions(rng, 3, n_points=15, n_frames=10)
    ranking = ranker.rank(positions, 3)
    assert (np.diff(ranking.scores) <= 0).all()
    assert len(ranking) == len(ranking.scores)
    assert ranking.best is ranking.candidates[0]
    assert disagreement(ranking.best.labels, truth) <= 0.05


def test_a_saved_ranker_scores_the_same(rng, fitted, tmp_path):
    path = tmp_path / "ranker.safetensors"
    fitted.save(path, {"data": "made up"})
    loaded = load_model(path)
    table = made_up_tables(rng)[0][0]
    np.testing.assert_array_equal(loaded.score(table), fitted.score(table))
    assert loaded.metadata_ == {"data": "made up"}
    assert (loaded.pool, loaded.form, loaded.k) == ("paper", "relative", 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": ["no such feature"] * 2}, "unknown feature"),
        ({"features": [feature_names()[3]] * 2}, "twice"),
        ({"features": []}, "list of names"),
        ({"features": "positions"}, "list of names"),
        ({"features": feature_names()[:3]}, "shape"),
        ({"parameters": {"pool": "small"}}, "pool must be one of"),
        ({"parameters": {"depth": 3}}, "do not fit"),
        ({"parameters": 3}, "do not fit"),
        ({"low": np.full(2, np.inf)}, "not finite"),
        ({"high": np.full(2, -1e9)}, "low <= high"),
        ({"values": np.zeros((1, 2, 1))}, "two knots"),
        ({"intercept": np.zeros(2)}, "shape"),
    ],
)
def test_a_spoiled_file_is_refused(fitted, tmp_path, change, message):
    path = tmp_path / "ranker.safetensors"
    fitted.save(path)
    file = read_model_file(path)
    arrays = {name: change.get(name, array) for name, array in file.arrays.items()}
    write_model_file(path, file.kind, arrays, file.metadata | {k: change[k] for k in change.keys() - arrays})
    with pytest.raises(DataError, match=message):
        load_model(path)


@pytest.mark.parametrize("name", ["pool", "features", "form"])
def test_unknown_words_are_refused(name):
    with pytest.raises(ParameterError, match=f"{name} must be one of"):
        MotionRanker(**{name: "other"})


def test_a_ranker_that_is_not_fitted_says_so(rng):
    with pytest.raises(ParameterError, match="not fitted"):
        MotionRanker().score(rng.random((2, len(feature_names()))))


def test_sequences_and_labels_must_match(rng):
    with pytest.raises(DataError, match="1 arrays of labels for 0 sequences"):
        MotionRanker().fit([], [np.zeros(3, int)])
    with pytest.raises(DataError, match="no sequences"):
        MotionRanker().fit([], [])


def test_the_shipped_ranker_finds_rigid_motions(rng, rigid_motions):
    ranker = load_model("hopkins155")
    assert len(ranker.selected_names) == 40
    assert ranker.metadata_["sequences"] == 155
    assert (SHIPPED / "hopkins155.md").is_file()
    for n_motions in (2, 3):
        positions, truth = rigid_motions(rng, n_motions)
        assert disagreement(ranker.rank(positions, n_motions).best.labels, truth) <= 0.02


def test_the_ranker_of_gaps_that_ships_finds_motions(rng, rigid_motions):
    ranker = load_model("motions")
    assert ranker.pool == "pairs"
    assert (SHIPPED / "motions.md").is_file()
    positions, truth = rigid_motions(rng, 2, n_points=80, n_frames=20)
    visible = rng.random(positions.shape[:2]) < 0.8
    ranking = ranker.rank_cues(MotionCues(positions, visible), 2)
    assert disagreement(ranking.best.labels, truth) <= 0.02
    assert (ranking.support() > 0).all()


@pytest.mark.parametrize("n_motions", [1, 2])
def test_the_ranker_of_gaps_that_ships_finds_the_number(rng, n_motions):
    """Plates that turn and shift, each in its own place and its own way."""
    tracks = []
    for motion in range(n_motions):
        body = rng.uniform(-60, 60, (60, 2)) + 100 + 200 * motion
        angle = (0.02 if motion else -0.01) * np.arange(15)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        shift = (4 - 7 * motion) * np.arange(15)[:, None]
        tracks.append(np.einsum("abf,pb->pfa", turn, body) + shift)
    positions = np.concatenate(tracks) + rng.normal(0, 0.1, (60 * n_motions, 15, 2))
    ranking = load_model("motions").rank_cues(MotionCues(positions, np.ones(positions.shape[:2], bool)))
    assert set(ranking.number_scores) == {1, 2, 3, 4, 5}
    assert ranking.best.labels.max() + 1 == n_motions


def test_a_saved_ranker_tells_the_same_number(rng, tmp_path):
    ranker = load_model("motions")
    ranker.save(tmp_path / "again.safetensors")
    again = load_model(tmp_path / "again.safetensors")
    names = names_of("pairs")
    found = DescribedCandidates(
        [Candidate(np.arange(6) % n, "made up", {}) for n in (1, 2, 3)], rng.random((3, len(names)))
    )
    assert again.number_scores(found) == ranker.number_scores(found)


def test_a_ranker_that_cannot_find_the_number_says_so(rng, rigid_motions):
    positions, _ = rigid_motions(rng, 2)
    with pytest.raises(ParameterError, match="give it"):
        MotionRanker(pool="pairs").rank_cues(MotionCues(positions, np.ones((50, 12), bool)))
