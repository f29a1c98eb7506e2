"""Residuals by hand, and both experiments on a small real table."""

import numpy as np
import pytest


def test_residual_centres_features_and_not_targets():
    from reproduce_lp_inf import one_hot, residual

    Y = one_hot(np.array([4, 4, 7, 7]))
    # the feature separates the classes, but without an intercept the means (1/2 in 8 entries) stay
    assert residual(np.array([[5.0], [5], [9], [9]]), Y) == pytest.approx(np.sqrt(8 / 4))


def test_residual_without_use_is_all_of_it():
    from reproduce_lp_inf import one_hot, residual

    Y = one_hot(np.repeat([0, 1], [47, 25]))
    assert residual(np.ones((72, 1)), Y) == pytest.approx(np.sqrt(72))
    # what centred features cannot explain: the numbers in the script's words
    means = Y.mean(axis=0)
    assert np.sqrt(72 * np.sum(means**2)) == pytest.approx(6.27, abs=0.005)
    assert np.linalg.norm(Y - means) == pytest.approx(5.71, abs=0.005)


def test_judges_stand_labels_that_never_vary_in_training(rng):
    from reproduce_lp_inf import judge

    X = rng.standard_normal((60, 2))
    y = np.c_[X[:, 0] > 0, np.zeros(60, dtype=bool)].astype(int)
    measured = judge(X, y, np.arange(40), np.arange(40, 60))
    assert float(measured["svm"]) > 80


@pytest.mark.real_data
def test_both_experiments_on_a_small_table(data_folder, tmp_path, capsys):
    from reproduce_lp_inf import main

    common = ["--data", str(data_folder), "--sets", "lung-small", "--out", str(tmp_path)]
    main(["residual", *common, "--methods", "p=1,f"])
    main(["accuracy", *common, "--methods", "f,fsa", "--ks", "5"])
    out = capsys.readouterr().out
    assert "### lung-small: residual with 20 features" in out
    assert "### lung-small: accuracy %, svm" in out
    assert "| fsa |" in out


def test_means_are_of_the_methods_measured_on_every_table(tmp_path, capsys):
    from common.results import Results
    from reproduce_lp_inf import ACCURACY_KEYS, ACCURACY_VALUES, print_mean_accuracy

    results = Results(tmp_path / "accuracy.csv", ACCURACY_KEYS, ACCURACY_VALUES)
    for table, method, fold, svm in (
        ("a", "f", 0, 60),
        ("a", "f", 1, 70),
        ("b", "f", 0, 25),
        ("a", "fsa", 0, 9),
    ):
        row = dict.fromkeys(ACCURACY_VALUES, "") | {"svm": svm, "neighbours": svm}
        results.add(table=table, method=method, k=10, fold=fold, **row)
    print_mean_accuracy(results, ["a", "b"], [10])
    out = capsys.readouterr().out
    assert "### Mean of 2 tables, %, svm" in out
    assert "| f | 45.0 |" in out
    assert "fsa" not in out


def test_unknown_method_is_refused(capsys):
    from reproduce_lp_inf import main

    with pytest.raises(SystemExit, match="2"):
        main(["residual", "--data", "x", "--methods", "p=2"])
    assert "--methods: p=2 is none of p=0.1 from p=1" in capsys.readouterr().err
