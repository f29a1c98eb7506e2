"""The synthetic data of the Feature Generating Machine's script, and its experiments in small."""

import numpy as np
import pytest
from scipy import sparse


def test_a_column_does_not_depend_on_which_others_are_made():
    from reproduce_fgm import TEST, Data

    for density in (1.0, 0.3):
        data = Data(20, 30, density, 1, seed=0)
        whole, some = data.part(TEST, 20, np.arange(30)), data.part(TEST, 20, np.array([7, 3]))
        if density < 1:
            assert sparse.issparse(whole)
            assert whole.indices.dtype == whole.indptr.dtype == np.int32
            whole, some = whole.toarray(), some.toarray()
        np.testing.assert_array_equal(some, whole[:, [7, 3]])


def test_parts_and_seeds_differ_and_entries_are_normal():
    from reproduce_fgm import TEST, TRAIN, Data

    which = np.arange(40)
    train = Data(500, 40, 1.0, 1, 0).part(TRAIN, 500, which)
    assert abs(train.mean()) < 0.03
    assert abs(train.std() - 1) < 0.03
    assert not np.array_equal(train, Data(500, 40, 1.0, 1, 0).part(TEST, 500, which))
    assert not np.array_equal(train, Data(500, 40, 1.0, 1, 1).part(TRAIN, 500, which))
    share = Data(500, 40, 0.1, 1, 0).part(TRAIN, 500, which).nnz / 20_000
    assert abs(share - 0.1) < 0.01


def test_accuracy_of_the_true_model_of_none_and_of_its_opposite():
    from reproduce_fgm import TEST, Data

    for density in (1.0, 0.1):
        data = Data(50, 40, density, 1, 0)
        assert data.accuracy(TEST, 300, data.truth, data.weights) == 100
        negative = 100 * np.mean(data.labels(TEST, 300) == -1)
        assert data.accuracy(TEST, 300, np.arange(0), np.zeros(0)) == pytest.approx(negative)
        without = 100 * np.mean(data.part(TEST, 300, data.truth) @ data.weights == 0)
        assert data.accuracy(TEST, 300, data.truth, -data.weights) == pytest.approx(without)
    assert without > 0


def test_labels_are_signs_and_types_share_their_features():
    from reproduce_fgm import TRAIN, Data

    one, two, three = (Data(100, 40, 1.0, kind, 0) for kind in (1, 2, 3))
    np.testing.assert_allclose(two.weights, one.weights**0.3)
    np.testing.assert_allclose(three.weights, one.weights**3)
    assert np.array_equal(one.truth, three.truth)
    response = one.part(TRAIN, 100, np.arange(40))[:, one.truth] @ one.weights
    np.testing.assert_array_equal(one.labels(TRAIN, 100), np.where(response > 0, 1, -1))


def test_small_experiment_is_measured_once_and_summarised(tmp_path, capsys):
    from reproduce_fgm import main

    arguments = ["small", "--rows", "80", "--columns", "40", "--types", "3", "--out", str(tmp_path)]
    main([*arguments, "--methods", "fgm,l1-svm,fsa"])
    out = capsys.readouterr().out
    assert "### 80 x 40, density 1, Type III" in out
    assert "| fsa | 30 | 30 |" in out
    before = (tmp_path / "fgm.csv").read_text()
    main([*arguments, "--methods", "fgm,l1-svm,fsa", "--summary-only"])
    assert capsys.readouterr().out == out
    assert (tmp_path / "fgm.csv").read_text() == before


def test_the_best_point_is_chosen_on_other_rows():
    from reproduce_fgm import _points

    rows = [
        {"method": "fsa", "n_selected": "9", "valid_accuracy": "70", "accuracy": "60"},
        {"method": "fsa", "n_selected": "5", "valid_accuracy": "65", "accuracy": "90"},
    ]
    assert _points(rows, "fsa", best=True) == rows[:1]
    assert _points(rows, "fsa", best=False) == rows[::-1]


@pytest.mark.parametrize(
    "arguments", [["--types", "4"], ["--methods", "magic"], ["--densities", "0"]], ids=lambda a: a[0]
)
def test_bad_arguments(arguments):
    from reproduce_fgm import main

    with pytest.raises(SystemExit, match="2"):
        main(["small", *arguments])
