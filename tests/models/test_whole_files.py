import errno
import os
import subprocess
import sys

import pytest

from annealed.features.errors import DataError
from annealed.models.whole_files import (
    PREFIX,
    check_file_place,
    check_folder_place,
    clear_leftovers,
    whole_file,
    whole_folder,
    write_whole,
)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a.txt").write_text("before")
    return tmp_path / "a.txt"


def contents(folder):
    return {p.name: p.read_text() for p in folder.iterdir()}


def test_a_file_appears_at_the_end(path):
    with whole_file(path) as temporary:
        temporary.write_text("after")
        assert path.read_text() == "before"
    assert contents(path.parent) == {"a.txt": "after"}


@pytest.mark.parametrize(
    ("error", "keep", "left"),
    [
        (ValueError, False, "before"),
        (ValueError, True, "before"),
        (KeyboardInterrupt, False, "before"),
        (KeyboardInterrupt, True, "part"),
    ],
)
def test_only_an_interruption_may_leave_a_part(path, error, keep, left):
    def write():
        with whole_file(path, keep_interrupted=keep) as temporary:
            temporary.write_text("part")
            raise error

    with pytest.raises(error):
        write()
    assert contents(path.parent) == {"a.txt": left}


def test_a_block_that_writes_nothing_changes_nothing(path):
    with whole_file(path):
        pass
    with whole_file(path) as temporary:
        temporary.touch()
    assert contents(path.parent) == {"a.txt": "before"}


def test_bytes_are_written_whole(path):
    write_whole(path, b"after")
    assert contents(path.parent) == {"a.txt": "after"}
    write_whole(path, b"")
    assert contents(path.parent) == {"a.txt": ""}


@pytest.mark.parametrize(
    ("number", "advice"), [(errno.ENOSPC, "the disk is full; free some"), (errno.EFBIG, "ulimit -f")]
)
def test_a_disk_that_refuses_is_one_line_and_leaves_the_old_file(path, monkeypatch, number, advice):
    def refuse(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(DataError, match=rf"a\.txt: cannot be written \(.*{advice}.*was there is as it was"):
        write_whole(path, b"after")
    monkeypatch.undo()
    assert contents(path.parent) == {"a.txt": "before"}


def test_errors_of_other_files_keep_their_name(path):
    with pytest.raises(FileNotFoundError, match=r"none\.txt"), whole_file(path):
        path.with_name("none.txt").read_text()


def test_a_link_stays_one(path):
    link = path.with_name("link.txt")
    link.symlink_to(path)
    write_whole(link, b"after")
    assert link.is_symlink()
    assert path.read_text() == "after"


def test_rights_stay(path):
    os.chmod(path, 0o600)
    write_whole(path, b"after")
    assert path.stat().st_mode & 0o777 == 0o600


def test_only_files_are_replaced(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        write_whole(tmp_path, b"x")
    with pytest.raises(DataError, match="no regular file"):
        write_whole(os.devnull, b"x")
    with pytest.raises(DataError, match=r"a\.txt: cannot be written .*make it first"):
        write_whole(tmp_path / "none" / "a.txt", b"x")


def test_a_folder_appears_at_the_end(tmp_path):
    with whole_folder(tmp_path / "one" / "two") as folder:
        (folder / "a.txt").write_text("a")
        (folder / "inner").mkdir()
        (folder / "inner" / "b.txt").write_text("b")
        assert not (tmp_path / "one" / "two").exists()
    assert contents(tmp_path / "one" / "two" / "inner") == {"b.txt": "b"}
    assert [p.name for p in (tmp_path / "one").iterdir()] == ["two"]


def test_a_folder_that_is_there_keeps_its_other_files(path):
    with whole_folder(path.parent) as folder:
        (folder / "b.txt").write_text("b")
    assert contents(path.parent) == {"a.txt": "before", "b.txt": "b"}


def test_an_error_leaves_the_folder_as_it_was(path):
    def write():
        with whole_folder(path.parent) as folder:
            (folder / "a.txt").write_text("after")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        write()
    assert contents(path.parent) == {"a.txt": "before"}
    assert [p.name for p in path.parent.parent.iterdir() if p.name.startswith(PREFIX)] == []


KILLED = """
import os, signal, sys
from annealed.models.whole_files import whole_file
with whole_file(sys.argv[1]) as temporary:
    temporary.write_text("part")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_left_is_removed_and_what_is_in_use_stays(path):
    done = subprocess.run([sys.executable, "-c", KILLED, path], timeout=120, check=False)
    assert done.returncode != 0
    left = {p.name for p in path.parent.iterdir()}
    assert len(left) == 2
    with whole_file(path) as temporary:
        temporary.write_text("after")
        clear_leftovers(path.parent)
        assert temporary.exists()
    assert contents(path.parent) == {"a.txt": "after"}


def test_places_are_checked_before_the_work(path):
    check_file_place(path)
    check_file_place(path.with_name("new.txt"))
    check_folder_place(path.with_name("new") / "deep")
    for check, place in (
        (check_file_place, path.parent),
        (check_file_place, path.parent / "none" / "a.txt"),
        (check_folder_place, path),
        (check_folder_place, path / "deep"),
    ):
        with pytest.raises(DataError):
            check(place)
