import numpy as np
import pytest
from scipy import sparse

from annealed.datasets.tables.selection_sets import SELECTION_NAMES, load_selection
from annealed.features.errors import DataError, ParameterError

# Rows, columns, classes or targets, rows of the official training part (None without one).
SHAPES = {
    "dexter": (600, 20_000, 2, 300),
    "arcene": (200, 10_000, 2, 100),
    "allaml": (72, 7129, 2, None),
    "leukemia": (72, 7070, 2, None),
    "glioma": (50, 4434, 4, None),
    "colon": (62, 2000, 2, None),
    "lung-small": (73, 325, 7, None),
    "lymphoma": (96, 4026, 9, None),
    "nci9": (60, 9712, 9, None),
    "tox-171": (171, 5748, 4, None),
    "isolet": (1560, 617, 26, None),
    "pcmac": (1943, 3289, 2, None),
    "basehock": (1993, 4862, 2, None),
    "rcv1": (1500, 47_236, 2, 1000),
    "mnist": (10_000, 784, 10, None),
    "usps": (2007, 256, 10, None),
    "coil20": (1440, 1024, 20, None),
    "orl": (400, 1024, 40, None),
    "yale": (165, 1024, 15, None),
    "yale-b": (2414, 1024, 38, None),
    "emotions": (593, 72, 6, 391),
    "scene": (2407, 294, 6, 1211),
    "enron": (1702, 1001, 53, 1123),
    "medical": (978, 1449, 45, 333),
    "genbase": (662, 1185, 27, 463),
    "atp1d": (337, 411, 6, None),
    "oes97": (334, 263, 16, None),
    "jura": (359, 15, 3, None),
    "wq": (1060, 16, 14, None),
    "ranking": (3773, 300, 5, 3005),
}


@pytest.fixture
def root(data_folder):
    return data_folder / "selection"


def test_every_name_is_checked():
    assert set(SHAPES) == set(SELECTION_NAMES)


@pytest.mark.real_data
@pytest.mark.parametrize("name", SELECTION_NAMES)
def test_tables_have_the_documented_shape(root, name):
    table = load_selection(name, root)
    n_classes = table.y.shape[1] if table.y.ndim == 2 else len(np.unique(table.y))
    n_train = None if table.split is None else len(table.split[0])
    assert (*table.X.shape, n_classes, n_train) == SHAPES[name]
    assert table.name == name
    values = table.X.data if sparse.issparse(table.X) else table.X
    assert np.isfinite(values).all()


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "train", "valid"),
    [("dexter", 2816528, 2820952), ("arcene", 70726744, 71410108)],
)
def test_challenge_tables_have_the_published_checksums(root, name, train, valid):
    table = load_selection(name, root)
    assert (table.train.X.sum(), table.test.X.sum()) == (train, valid)
    assert sorted(set(table.y)) == [-1, 1]


@pytest.mark.real_data
def test_ranking_queries(root):
    table = load_selection("ranking", root)
    assert len(np.unique(table.train.qid)) == 201
    assert len(np.unique(table.test.qid)) == 50
    assert set(np.unique(table.y)) == {0, 1, 2, 3, 4}


def test_unknown_name_lists_the_names(tmp_path):
    with pytest.raises(ParameterError, match="no table is named 'dextre'; there are dexter, arcene"):
        load_selection("dextre", tmp_path)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(DataError, match=r"dexter_train\.data: No such file"):
        load_selection("dexter", tmp_path)
