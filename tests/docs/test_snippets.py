"""The Python snippets of README and docs run, and print what their comments say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(set(ROOT.glob("*.md")) - {ROOT / "CHANGELOG.md"}), *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPETS = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S))
]


def test_the_readme_has_its_three_snippets():
    assert sum(param.id.startswith("README.md") for param in SNIPPETS) == 3


@pytest.mark.parametrize("code", SNIPPETS)
def test_snippets_print_what_their_comments_say(code, capsys):
    lines = code.splitlines()
    stated = [line.split("  # ")[1].split(";")[0] for line in lines if "print(" in line]
    exec(compile(code, "snippet", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[: len(stated)] == stated
    assert set(printed[len(stated) :]) <= set(stated)  # a loop prints its line more than once
