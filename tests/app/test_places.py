"""Two runs never mix, and what a user made is never lost."""

import pytest

from annealed.app.places import LIST_FILE, check_new_file, check_new_folder, results_folder
from annealed.features.errors import DataError


def write(folder, **contents):
    folder.mkdir(exist_ok=True)
    for name, text in contents.items():
        place = folder / name.replace("__", "/").replace("_", ".")
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)


def seen(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.name != LIST_FILE}


def run(folder, overwrite=False, **contents):
    with results_folder(folder, overwrite):
        write(folder, **contents)


def run_and_fail(folder):
    with results_folder(folder, True):
        write(folder, a_txt="2")
        raise ValueError("oops")


def test_a_folder_that_is_not_empty_is_refused(tmp_path):
    run(tmp_path / "out", a_txt="1")
    with pytest.raises(DataError, match="--overwrite"):
        run(tmp_path / "out", b_txt="2")
    assert seen(tmp_path / "out") == {"a.txt"}


def test_overwriting_removes_what_only_the_run_before_wrote(tmp_path, capsys):
    out = tmp_path / "out"
    run(out, a_txt="1", sub__b_txt="1")
    write(out, mine_txt="notes")
    run(out, overwrite=True, a_txt="2")
    assert seen(out) == {"a.txt", "mine.txt"}
    assert not (out / "sub").exists()
    assert (out / "a.txt").read_text() == "2"
    assert f"written to {out}: a.txt" in capsys.readouterr().err.splitlines()[-1]


def test_a_run_that_fails_removes_nothing(tmp_path):
    out = tmp_path / "out"
    run(out, a_txt="1", b_txt="1")
    with pytest.raises(ValueError, match="oops"):
        run_and_fail(out)
    assert seen(out) == {"a.txt", "b.txt"}
    run(out, overwrite=True, c_txt="3")  # the list still knows of both
    assert seen(out) == {"c.txt"}


def test_a_list_that_names_files_outside_removes_nothing_there(tmp_path):
    out = tmp_path / "out"
    run(out, a_txt="1")
    (tmp_path / "precious.txt").write_text("mine")
    (out / LIST_FILE).write_text("../precious.txt\na.txt\n/etc/hostname\n")
    run(out, overwrite=True, b_txt="2")
    assert (tmp_path / "precious.txt").read_text() == "mine"
    assert seen(out) == {"b.txt"}


def test_many_files_are_counted(tmp_path, capsys):
    run(tmp_path / "out", **{f"f{i}": "1" for i in range(9)})
    assert "f0, f1, f2, f3, f4, f5 and 3 more files" in capsys.readouterr().err


def test_places_are_checked_before_the_work(tmp_path):
    (tmp_path / "a.txt").write_text("1")
    with pytest.raises(DataError, match="is there already"):
        check_new_file(tmp_path / "a.txt", False)
    check_new_file(tmp_path / "a.txt", True)
    with pytest.raises(DataError, match="is a file"):
        check_new_folder(tmp_path / "a.txt", True)
