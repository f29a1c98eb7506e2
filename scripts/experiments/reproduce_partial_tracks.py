"""Segmentation of tracks with gaps, noise and outliers, and the number of motions: candidates of frame pairs.

    scripts/experiments/reproduce_partial_tracks.py [--data DIR] [--store runs/motion] [--assignments 30]
                                                    [--others 3]

Prints Markdown tables of misclassification in percent, tracks of every length, outliers not counted:

1. Hopkins 155, cross-validated over videos in 10 folds; median over the assignments of videos to folds, and
   their range. The ranker learns from the training folds and a disturbed copy of each of their sequences.
   Beside it (over --others assignments): RankBoost on the same features, the ranker on the likelihood
   features alone, without the copies, with simulated streets (`common/driving_scenes.py`) beside the copies,
   and with the kind of features and their form chosen inside the training folds, by cross-validation over
   three parts of their videos; and choices that nothing is learned for.
2. Every eighth sequence with one disturbance: noise, outliers, tracks that end, observations that are lost;
   chosen by the rankers of 1., each for the videos that it has not seen.
3. KT3DMoSeg and MTPV (12 of its 62 clips: those that are not Hopkins 155), all tracks up to 600, which no
   ranker has seen.
4. The number of motions of Hopkins 155 and of each motion of its videos alone, from one to three, beside the
   greatest eigengap of the graph that is best by it (U. von Luxburg. A tutorial on spectral clustering.
   Statistics and Computing 17, 2007) and the greatest mean silhouette of the agreement, one motion where it
   is below 0.25 (P. J. Rousseeuw. Silhouettes. Journal of Computational and Applied Mathematics 20, 1987; L.
   Kaufman, P. J. Rousseeuw. Finding Groups in Data, 1990).
5. Outliers: precision and recall of the tracks that are called so, on the sequences of 2. with outliers.

What is described is kept in STORE and used again.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common.described_sequences import DescribedSequences
from common.results import markdown_table

from annealed.models.motion import MotionRanker
from annealed.models.motion.cues import MotionCues
from annealed.models.motion.experiment import BoostedRanker, CandidateRanker, assign_folds, baselines
from annealed.models.motion.measures import measure_names
from annealed.models.motion.segment import UNLABELLED, completed

DATA = Path("../shared/data/hopkins155")
N_FOLDS = 10
SILHOUETTE = "all agreement: silhouette"
NO_STRUCTURE = 0.25
OURS = "ranker"
OUTLIERS = "20 % outliers"
N_INNER = 3
SETTINGS = [("prior", "range"), ("prior", "relative"), ("all", "range"), ("all", "relative")]


def make_ranker(features: str = "all", form: str = "range") -> MotionRanker:
    """The ranker that ships, not fitted."""
    return MotionRanker(pool="pairs", features=features, form=form)


class NestedRanker:
    """A ranker whose kind of features and form are chosen among its own training videos."""

    def fit_candidates(self, tables, errors, videos):
        folds = assign_folds(videos, 0, N_INNER)
        means = []
        for setting in SETTINGS:
            chosen = []
            for fold in range(N_INNER):
                inside, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
                ranker = make_ranker(*setting)
                ranker.fit_candidates([tables[i] for i in inside], [errors[i] for i in inside])
                chosen += [errors[i][np.argmax(ranker.score(tables[i]))] for i in held]
            means.append(np.mean(chosen))
        self.ranker_ = make_ranker(*SETTINGS[int(np.argmin(means))]).fit_candidates(tables, errors)
        return self

    def score(self, table):
        return self.ranker_.score(table)


LEARNERS: dict[str, tuple[Callable[[], CandidateRanker | NestedRanker], str]] = {
    OURS: (make_ranker, "copies"),
    "ranker, no copies": (make_ranker, ""),
    "ranker, copies and streets": (make_ranker, "copies and streets"),
    "ranker, settings chosen inside": (NestedRanker, "copies"),
    "likelihood": (lambda: make_ranker("likelihood"), "copies"),
    "RankBoost": (lambda: BoostedRanker(form="range"), "copies"),
}
"""How to make each, and what it learns from beside the sequences."""


def choose(ranker, problems) -> np.ndarray:
    """Errors of the candidates that rank first."""
    return np.array([problem.errors[np.argmax(ranker.score(problem.table))] for problem in problems])


def fold_of(problems, clean, seed: int) -> np.ndarray:
    """The fold of each problem, that of its video among the clean sequences; -1 for other videos."""
    videos = [problem.video for problem in clean]
    fold = dict(zip(videos, assign_folds(videos, seed, N_FOLDS).tolist(), strict=True))
    return np.array([fold.get(problem.video, -1) for problem in problems])


def learn(name: str, training) -> CandidateRanker | NestedRanker:
    """Fit a learner to sequences that are described."""
    ranker = LEARNERS[name][0]()
    tables, errors = [p.table for p in training], [p.errors for p in training]
    if isinstance(ranker, NestedRanker):
        return ranker.fit_candidates(tables, errors, [p.video for p in training])
    return ranker.fit_candidates(tables, errors)


def training_set(name: str, clean, copies, streets) -> list:
    """What a learner learns from."""
    beside = LEARNERS[name][1]
    return [*clean, *(copies if "copies" in beside else []), *(streets if "streets" in beside else [])]


def cross_validated(name: str, seed: int, clean, copies, streets, tests) -> dict[str, np.ndarray]:
    """Test errors of one learner for one assignment: of the clean sequences, and of each disturbance."""
    pool = training_set(name, clean, copies, streets)
    pool_folds = fold_of(pool, clean, seed)
    sets = {"clean": clean, **tests}
    errors = {key: np.full(len(problems), np.nan) for key, problems in sets.items()}
    for fold in range(N_FOLDS):
        ranker = learn(name, [problem for problem, at in zip(pool, pool_folds, strict=True) if at != fold])
        for key, problems in sets.items():
            mine = np.flatnonzero(fold_of(problems, clean, seed) == fold)
            errors[key][mine] = choose(ranker, [problems[i] for i in mine])
    return errors


def spread(values: np.ndarray) -> str:
    """Median over assignments and range, in percent."""
    low, middle, high = np.quantile(100 * values, [0, 0.5, 1])
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


def print_clean(clean, results) -> None:
    """Print table 1."""
    motions = np.array([problem.n_motions for problem in clean])
    groups = [motions == 2, motions == 3, motions > 0]
    rows = []
    for name, errors in results.items():
        table = np.array([e["clean"] for e in errors])
        rows.append(
            [f"{name}, {len(table)} assignments", *(spread(table[:, g].mean(axis=1)) for g in groups)]
        )
    for name, errors in baselines(clean).items():
        rows.append([name, *(f"{100 * errors[g].mean():.2f}" for g in groups)])
    print(f"\n1. Hopkins 155, {sum(len(p.candidates) for p in clean)} candidates\n")
    print(markdown_table(["", "2 motions", "3 motions", "all"], rows))


def print_disturbed(tests, results) -> None:
    """Print table 2."""
    rows = []
    for name, errors in results.items():
        rows.append([name, *(spread(np.array([e[key].mean() for e in errors])) for key in tests)])
    choices = {key: baselines(problems) for key, problems in tests.items()}
    for name in next(iter(choices.values())):
        rows.append([name, *(f"{100 * choices[key][name].mean():.2f}" for key in tests)])
    print(f"\n2. {len(next(iter(tests.values())))} sequences of Hopkins 155, disturbed\n")
    print(markdown_table(["", *tests], rows))


def print_others(sets, clean, copies, streets) -> None:
    """Print table 3."""
    rankers = {name: learn(name, training_set(name, clean, copies, streets)) for name in LEARNERS}
    columns = {}
    for title, problems in sets.items():
        choices = {name: choose(ranker, problems) for name, ranker in rankers.items()}
        columns[f"{title}, {len(problems)}"] = choices | baselines(problems)
    names = list(dict.fromkeys(name for choices in columns.values() for name in choices))
    rows = [
        [
            name,
            *(f"{100 * choices[name].mean():.2f}" if name in choices else "" for choices in columns.values()),
        ]
        for name in names
    ]
    print("\n3. Other sequences, all tracks\n")
    print(markdown_table(["", *columns], rows))
    for title, problems in sets.items():
        worst = choose(rankers[OURS], problems)
        order = np.argsort(-worst, kind="stable")[:5]
        text = ", ".join(f"{problems[i].name} {100 * worst[i]:.1f}" for i in order)
        print(f"\n{title}, the largest errors: {text}")


def silhouette_number(problem) -> int:
    """The number of motions with the greatest mean silhouette; one where none has structure."""
    found = problem.over_numbers
    silhouette = -found.table[:, measure_names().index(SILHOUETTE)]
    best = int(np.argmax(silhouette))
    return int(found.n_motions[best]) if silhouette[best] >= NO_STRUCTURE else 1


def eigengap_number(problem, graph: str) -> int:
    """The number of motions after which the gap of a graph's eigenvalues is largest."""
    found = problem.over_numbers
    gap = -found.table[:, measure_names().index(f"{graph}: eigengap")]
    return int(found.n_motions[int(np.argmax(gap))])


def number_found(ranker: MotionRanker, problem) -> int:
    """The number of motions by the ranker."""
    scores = ranker.number_scores(problem.over_numbers)
    return max(scores, key=lambda number: scores[number])


def print_numbers(clean, copies, singles, assignments: int) -> None:
    """Print table 4."""
    problems = [*clean, *singles]
    truth = np.array([problem.n_motions for problem in problems])
    shares = []
    for seed in range(assignments):
        found = np.zeros(len(problems), dtype=int)
        folds, copy_folds = fold_of(problems, clean, seed), fold_of(copies, clean, seed)
        for fold in range(N_FOLDS):
            training = [p for p, at in zip(problems, folds, strict=True) if at != fold]
            both = [p for p in training if p.n_motions > 1]
            both += [p for p, at in zip(copies, copy_folds, strict=True) if at != fold]
            ranker = make_ranker().fit_candidates([p.table for p in both], [p.errors for p in both])
            ranker.fit_numbers([p.over_numbers for p in training], [p.n_motions for p in training])
            for i in np.flatnonzero(folds == fold):
                found[i] = number_found(ranker, problems[i])
        shares.append([np.mean((found == truth)[truth == k]) for k in (1, 2, 3)] + [np.mean(found == truth)])
    rows = [[f"ranker, {assignments} assignments", *(spread(column) for column in np.array(shares).T)]]
    graphs = [name.split(":")[0] for name in measure_names() if name.endswith(": eigengap")]
    gaps = {f"greatest eigengap, {g}": np.array([eigengap_number(p, g) for p in problems]) for g in graphs}
    best = max(gaps, key=lambda name: float(np.mean(gaps[name] == truth)))
    published = {
        "greatest silhouette": np.array([silhouette_number(p) for p in problems]),
        best: gaps[best],
    }
    for name, numbers in published.items():
        right = numbers == truth
        cells = [f"{100 * right[truth == k].mean():.1f}" for k in (1, 2, 3)]
        rows.append([name, *cells, f"{100 * right.mean():.1f}"])
    print("\n4. Number of motions right, %\n")
    print(markdown_table(["", *(f"{k} ({np.sum(truth == k)})" for k in (1, 2, 3)), "all"], rows))


def print_outliers(problems, tracks, clean, copies, assignments: int) -> None:
    """Print table 5."""
    rows = []
    for seed in range(assignments):
        folds, called, true = fold_of(problems, clean, seed), [], []
        for fold in np.unique(folds):
            training = [*clean, *copies]
            training = [
                p for p, at in zip(training, fold_of(training, clean, seed), strict=True) if at != fold
            ]
            ranker = learn(OURS, training)
            for i in np.flatnonzero(folds == fold):
                best = problems[i].candidates[int(np.argmax(ranker.score(problems[i].table)))]
                _, own = tracks[i]
                labels = np.full(len(own), UNLABELLED)
                labels[MotionCues(own.positions, own.visible).without_strays()[1]] = best.labels
                called.append(completed(own.positions, own.visible, labels)[1])
                true.append(own.labels < 0)
        flat, wanted = np.concatenate(called), np.concatenate(true)
        rows.append([(flat & wanted).sum() / max(flat.sum(), 1), (flat & wanted).sum() / wanted.sum()])
    print("\n5. Outliers, %\n")
    cells = [spread(column) for column in np.array(rows).T]
    print(markdown_table(["", "precision", "recall"], [[f"ranker, {assignments} assignments", *cells]]))


def main() -> None:
    """Run the experiment."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--store", type=Path, default=Path("runs/motion"))
    parser.add_argument("--assignments", type=int, default=30)
    parser.add_argument("--others", type=int, default=3, help="assignments for what stands beside the ranker")
    options = parser.parse_args()
    sequences = DescribedSequences(options.data, options.store)
    clean, copies, tests = sequences.clean(), sequences.copies(), sequences.disturbed()
    streets = sequences.scenes()
    results = {
        name: [
            cross_validated(name, seed, clean, copies, streets, tests)
            for seed in range(options.assignments if name == OURS else options.others)
        ]
        for name in LEARNERS
    }
    print_clean(clean, results)
    print_disturbed(tests, results)
    others = {"KT3DMoSeg": sequences.others("kt3dmoseg"), "MTPV": sequences.others("mtpv12")}
    print_others(others, clean, copies, streets)
    print_numbers(clean, copies, sequences.singles(), options.others)
    outliers = sequences.disturbed_tracks(OUTLIERS)
    print_outliers(tests[OUTLIERS], outliers, clean, copies, options.others)


if __name__ == "__main__":
    main()
