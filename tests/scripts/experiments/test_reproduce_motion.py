"""How the script of Table 7 summarises and prints."""

import numpy as np

from annealed.models.motion.candidates import Candidate
from annealed.models.motion.description import feature_names
from annealed.models.motion.experiment import RankingProblem


def sequences(rng, n=12):
    found = [Candidate(np.array([0, 1]), "velocity", {"d": d}) for d in (4, 5, 6)]
    return [
        RankingProblem(
            f"s{i}", f"v{i}", "traffic", 2, found, rng.random((3, len(feature_names()))), np.arange(3) / 10
        )
        for i in range(n)
    ]


class LastCandidate:
    """Ranks the last candidate first."""

    def fit_candidates(self, tables, errors):
        return self

    def score(self, table):
        return np.arange(len(table))


def test_every_column_is_measured_printed_and_plotted(rng, tmp_path, monkeypatch, capsys):
    import reproduce_motion
    from common.motion_tables import COLUMNS
    from common.results import Results

    monkeypatch.setattr(
        reproduce_motion, "RANKERS", dict.fromkeys(("RankBoost", "likelihood", "prior", "all"), LastCandidate)
    )
    described = sequences(rng)
    path = tmp_path / "table.csv"
    results = Results(path, ("assignment", "column", "motions", "category"), ("average", "median"))
    tests, spent = reproduce_motion.run(described, results, assignments=2)
    assert set(spent) == set(tests) == set(reproduce_motion.RANKERS)
    groups = [(2, "traffic"), (2, None), (None, None)]
    for column in COLUMNS:
        assert reproduce_motion.mean_and_spread(results, (2, None), column, "average") == "20.00 ± 0.00"
    reproduce_motion.print_table(results, groups, "average", {(2, None): (1.5,) * len(COLUMNS)})
    choices = reproduce_motion.print_baselines(described, groups)
    reproduce_motion.print_hardest(described, tests["all"])
    printed = capsys.readouterr().out
    assert printed.count("20.00 ± 0.00 (1.50)") == len(COLUMNS)
    assert "| s0 | 20.0 | 0.0 |" in printed
    reproduce_motion.plot(tmp_path / "figure.png", described, choices, tests)
    assert (tmp_path / "figure.png").stat().st_size > 0
