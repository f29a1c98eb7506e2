"""The real tables on which selectors are compared, by name."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...features.errors import ParameterError
from .arff import read_arff, read_label_names
from .dense_text import read_dense_text
from .idx import read_idx_images
from .matlab_table import read_mat
from .sparse_text import read_challenge_sparse, read_svmlight, read_vw
from .table import Table, join


def load_selection(name: str, root) -> Table:
    """Read one of the real tables.

    Parameters
    ----------
    name : str
        One of `SELECTION_NAMES`.
    root : path-like
        The folder that has `microarray`, `text`, `images` and the others.

    Returns
    -------
    Table
        With the official split, where there is one. Labels are as the files have them.

    Raises
    ------
    ParameterError
        No table has that name.
    DataError
        A file is missing or cannot be read.
    """
    if name not in _READERS:
        raise ParameterError(f"no table is named {name!r}; there are {', '.join(SELECTION_NAMES)}")
    return replace(_READERS[name](Path(root)), name=name)


def _dexter(root: Path) -> Table:
    parts = [root / "nips2003" / f"dexter_{part}" for part in ("train", "valid")]
    return join(
        *(read_challenge_sparse(f"{part}.data", f"{part}.labels", n_features=20_000) for part in parts)
    )


def _arcene(root: Path) -> Table:
    parts = [root / "nips2003" / f"arcene_{part}" for part in ("train", "valid")]
    return join(*(read_dense_text(f"{part}.data", f"{part}.labels") for part in parts))


def _rcv1(root: Path) -> Table:
    parts = ("rcv1_small.dat", "rcv1_small_test.data")
    return join(*(read_vw(root / "text" / part, n_features=47_236) for part in parts))


def _ranking(root: Path) -> Table:
    parts = [root / "ranking" / f"rank.{part}" for part in ("train", "test")]
    return join(*(read_svmlight(part, query_path=f"{part}.query", n_features=300) for part in parts))


def _mnist(root: Path) -> Table:
    folder = root / "images"
    return read_idx_images(folder / "t10k-images-idx3-ubyte.gz", folder / "t10k-labels-idx1-ubyte.gz")


def _mat(folder: str, file: str, **options) -> Callable[[Path], Table]:
    return lambda root: read_mat(root / folder / file, **options)


def _multilabel(name: str) -> Callable[[Path], Table]:
    def read(root: Path) -> Table:
        folder = root / "multilabel"
        labels = read_label_names(folder / f"{name}.xml")
        return join(*(read_arff(folder / f"{name}-{part}.arff", labels) for part in ("train", "test")))

    return read


def _genbase(root: Path) -> Table:
    table = _multilabel("genbase")(root)
    assert table.feature_names is not None
    # The first column names the protein: it identifies the row.
    return replace(table, X=table.X[:, 1:], feature_names=table.feature_names[1:])


def _multitarget(name: str, n_targets: int) -> Callable[[Path], Table]:
    return lambda root: read_arff(root / "multitarget" / f"{name}.arff", n_targets)


_READERS: dict[str, Callable[[Path], Table]] = {
    "dexter": _dexter,
    "arcene": _arcene,
    "allaml": _mat("microarray", "ALLAML.mat"),
    "leukemia": _mat("microarray", "leukemia.mat"),
    "glioma": _mat("microarray", "GLIOMA.mat"),
    "colon": _mat("microarray", "colon.mat"),
    "lung-small": _mat("microarray", "lung_small.mat"),
    "lymphoma": _mat("microarray", "lymphoma.mat"),
    "nci9": _mat("microarray", "nci9.mat"),
    "tox-171": _mat("microarray", "TOX-171.mat"),
    "isolet": _mat("other", "Isolet.mat"),
    "pcmac": _mat("text", "PCMAC.mat"),
    "basehock": _mat("text", "BASEHOCK.mat"),
    "rcv1": _rcv1,
    "mnist": _mnist,
    "usps": _mat("images", "usps.mat", X="fea", y="gnd"),
    "coil20": _mat("images", "COIL20.mat"),
    "orl": _mat("images", "ORL.mat"),
    "yale": _mat("images", "Yale.mat"),
    "yale-b": _mat("images", "YaleB_32x32.mat", X="features", y="Label", samples_in_columns=True),
    "emotions": _multilabel("emotions"),
    "scene": _multilabel("scene"),
    "enron": _multilabel("enron"),
    "medical": _multilabel("medical"),
    "genbase": _genbase,
    "atp1d": _multitarget("atp1d", 6),
    "oes97": _multitarget("oes97", 16),
    "jura": _multitarget("jura", 3),
    "wq": _multitarget("wq", 14),
    "ranking": _ranking,
}

SELECTION_NAMES = tuple(_READERS)
