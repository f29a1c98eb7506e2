"""Candidates of sequences, described once and kept in a folder, so that trying a ranker is cheap."""

import json
from pathlib import Path

import numpy as np

from annealed.datasets.tracks.hopkins import category_of, load_hopkins155, video_of
from annealed.datasets.tracks.multiview import read_multiview
from annealed.models.motion.candidates import Candidate
from annealed.models.motion.disturbances import (
    TESTS,
    LabelledTracks,
    one_motion,
    some_tracks,
    training_copy,
)
from annealed.models.motion.experiment import RankingProblem, describe_tracks
from annealed.models.motion.pools import DescribedCandidates
from common.driving_scenes import N_SCENES, driving_scene

VERSION = 6  # of candidates and features: files of another one are made anew
NUMBERS = (1, 2, 3)
MOST_TESTED = 300
MOST_OF_OTHERS = 600
TEST_STEP = 8  # every so-and-so-many-th sequence is disturbed for the tests


def labelled(tracks) -> LabelledTracks:
    """Take what the experiments need of tracks that were read."""
    positions = np.where(tracks.visible[:, :, None], tracks.positions, 0.0)
    return LabelledTracks(positions, tracks.visible, tracks.labels)


class DescribedSequences:
    """Sequences of Hopkins 155 and others, and disturbed copies, with their candidates.

    Parameters
    ----------
    data : Path
        Folder of Hopkins 155, with `extra` in it.
    store : Path
        Folder for what was described; made if missing.
    """

    def __init__(self, data: Path, store: Path) -> None:
        self.data = data
        self.store = store
        self._hopkins: list | None = None

    @property
    def hopkins(self) -> list:
        """All 155 sequences."""
        if self._hopkins is None:
            self._hopkins = load_hopkins155(self.data)
        return self._hopkins

    def clean(self) -> list[RankingProblem]:
        """The 155 as they are, for one to three motions."""
        return [self._described("clean", t.name, labelled(t), NUMBERS) for t in self.hopkins]

    def copies(self) -> list[RankingProblem]:
        """A disturbed copy of each of the 155, for training."""
        return [
            self._described("copy", t.name, training_copy(labelled(t), number))
            for number, t in enumerate(self.hopkins)
        ]

    def scenes(self) -> list[RankingProblem]:
        """Simulated streets, for training."""
        return [self._described("scene", f"street{n}", driving_scene(n)) for n in range(N_SCENES)]

    def singles(self) -> list[RankingProblem]:
        """Each motion of the 50 videos by itself."""
        found = []
        for t in self.hopkins:
            for motion in range(t.n_motions if video_of(t.name) == t.name else 0):
                own = one_motion(labelled(t), motion)
                found.append(self._described("single", t.name, own, NUMBERS, part=f"-{motion}"))
        return found

    def disturbed(self) -> dict[str, list[RankingProblem]]:
        """Every eighth of the 155 with each disturbance of the tests."""
        found: dict[str, list[RankingProblem]] = {name: [] for name in TESTS}
        for name in TESTS:
            for sequence, tracks in self.disturbed_tracks(name):
                found[name].append(self._described(name.replace(" ", "-"), sequence, tracks))
        return found

    def disturbed_tracks(self, disturbance: str) -> list[tuple[str, LabelledTracks]]:
        """Every eighth of the 155 with one disturbance, by name."""
        found = []
        for number, t in list(enumerate(self.hopkins))[::TEST_STEP]:
            rng = np.random.default_rng([2, number])
            tracks = some_tracks(labelled(t), rng, MOST_TESTED)
            found.append((t.name, TESTS[disturbance](tracks, rng)))
        return found

    def others(self, folder: str) -> list[RankingProblem]:
        """The sequences of `extra/FOLDER`, all their tracks with gaps, at most 600."""
        found = []
        for path in sorted((self.data / "extra" / folder).glob("*_Tracks.mat")):
            tracks = read_multiview(path)
            own = labelled(tracks)
            if len(own) > MOST_OF_OTHERS:
                own = own[np.linspace(0, len(own) - 1, MOST_OF_OTHERS).round().astype(int)]
            found.append(self._described(folder, tracks.name, own))
        return found

    def _described(
        self, kind: str, name: str, tracks: LabelledTracks, numbers=None, part: str = ""
    ) -> RankingProblem:
        path = self.store / kind / f"{name}{part}.v{VERSION}.npz"
        if not path.is_file():
            problem = describe_tracks(tracks, numbers, name=name + part, video=video_of(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            _save(path, problem)
        return _load(path, name + part, video_of(name), category_of(name))


def _save(path: Path, problem: RankingProblem) -> None:
    every = problem.over_numbers or DescribedCandidates(problem.candidates, problem.table)
    runs = [
        [(run.generator, run.parameters) for run in (candidate, *candidate.repetitions)]
        for candidate in every.candidates
    ]
    np.savez_compressed(
        path,
        labels=np.stack([candidate.labels for candidate in every.candidates]).astype(np.int16),
        runs=np.array(json.dumps(runs)),
        table=every.table,
        errors=problem.errors,
        n_motions=problem.n_motions,
    )


def _load(path: Path, name: str, video: str, category: str) -> RankingProblem:
    with np.load(path) as file:
        runs = json.loads(str(file["runs"]))
        candidates = []
        for labels, ((generator, parameters), *others) in zip(file["labels"], runs, strict=True):
            labels = labels.astype(np.int64)
            again = tuple(Candidate(labels, *other) for other in others)
            candidates.append(Candidate(labels, generator, parameters, again))
        every = DescribedCandidates(candidates, file["table"])
        n_motions = int(file["n_motions"])
        own = every.of_number(n_motions)
        return RankingProblem(
            name, video, category, n_motions, own.candidates, own.table, file["errors"], every
        )
