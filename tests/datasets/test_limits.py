import pytest

from annealed.datasets.limits import DEFAULT_MEMORY, check_memory, memory_budget, work_budget
from annealed.features.errors import DataError, ParameterError


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a").write_bytes(bytes(100))
    return tmp_path / "a"


def test_a_small_file_may_take_the_default(path):
    assert memory_budget(path) == DEFAULT_MEMORY
    check_memory(path, DEFAULT_MEMORY, "a table")
    with pytest.raises(DataError, match=r"a: a table would take 512\.0 MB, more .*ANNEALED_INPUT_MEMORY=16G"):
        check_memory(path, DEFAULT_MEMORY + 1, "a table")


def test_a_large_file_may_take_a_multiple_of_its_size(path):
    with open(path, "wb") as stream:
        stream.truncate(DEFAULT_MEMORY)  # no block of it is written
    assert memory_budget(path) == 20 * DEFAULT_MEMORY


@pytest.mark.parametrize(("text", "n_bytes"), [("7", 7), ("2k", 2048), ("3M", 3 * 2**20), (" 1G ", 2**30)])
def test_the_budget_may_be_stated(path, monkeypatch, text, n_bytes):
    monkeypatch.setenv("ANNEALED_INPUT_MEMORY", text)
    monkeypatch.setenv("ANNEALED_INPUT_WORK", text)
    assert memory_budget(path) == work_budget() == n_bytes


@pytest.mark.parametrize("text", ["G", "-1", "1.5G", "lots", "\u00b2"])
def test_a_budget_that_is_no_number_is_named(path, monkeypatch, text):
    monkeypatch.setenv("ANNEALED_INPUT_MEMORY", text)
    with pytest.raises(ParameterError, match="ANNEALED_INPUT_MEMORY is"):
        memory_budget(path)


def test_claims_of_any_size_are_put_into_words(path):
    with pytest.raises(DataError, match=r"would take more than 2\^60 bytes"):
        check_memory(path, 10**400, "a table")
