import pytest

from annealed.app.output.whole_file import whole_file


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
