"""Documents name no file, link, command or option that does not exist."""

import re
from pathlib import Path

import pytest
import typer

from annealed.app.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(set(ROOT.glob("*.md")) - {ROOT / "CHANGELOG.md"}), *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "gallery"} & set(page.parts)]
COMMANDS = typer.main.get_command(app).commands
MADE = {"docs/_build"}  # by scripts/docs
FOLDERS = "app|datasets|docs|features|models|scripts|tests"


@pytest.fixture(params=PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def page(request):
    return request.param


def test_files_exist(page):
    for name in re.findall(rf"(?<![\w/.-])((?:{FOLDERS})/[\w./-]*[\w/])", page.read_text()):
        assert name in MADE or (ROOT / name).exists() or (page.parent / name).exists(), name


def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def calls_in(text):
    """The command lines of annealed in fenced blocks and between backticks."""
    fenced = "\n".join(re.findall(r"^```\n(.*?)^```", text, re.M | re.S))
    return re.findall(r"^(?:\$ )?annealed ([^#\n]+)", fenced, re.M) + re.findall(r"`annealed ([^`]+)`", text)


def test_calls_are_found_in_blocks_and_lines():
    text = "annealed learns `annealed\ninfo`\n```\n$ annealed demo --out x  # y\n```\nsee `annealed info a`"
    assert calls_in(text) == ["demo --out x  ", "info a"]


def test_commands_and_their_options_exist(page):
    for call in calls_in(page.read_text()):
        name, *words = call.split()
        if name.startswith("--"):
            continue  # of the program itself
        assert name in COMMANDS, name
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts} | {"--help"}
        for word in words:
            assert not word.startswith("-") or word.split("=")[0] in known, f"annealed {name} {word}"


def test_options_named_alone_are_of_some_command_or_script(page):
    known = {
        option for command in COMMANDS.values() for parameter in command.params for option in parameter.opts
    }
    scripts = "".join(path.read_text() for path in (ROOT / "scripts").rglob("*.py"))
    for option in re.findall(r"`(--[a-z][\w-]*)", page.read_text()):
        assert option in known | {"--help"} or option in scripts, option


def test_every_page_is_in_the_contents():
    contents = (ROOT / "docs" / "index.md").read_text()
    for page in PAGES:
        if page.parent.is_relative_to(ROOT / "docs") and page.name != "index.md":
            assert str(page.relative_to(ROOT / "docs").with_suffix("")) in contents, page
