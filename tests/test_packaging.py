"""What the wheel holds, what may import what, and the examples in the docstrings."""

import ast
import doctest
import importlib
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("app", "features", "models", "datasets")
# What the modules of a folder may import of the package, besides their own folder.
ALLOWED = {
    "app": {"features", "models", "datasets"},
    "models": {"features"},
    "features": set(),
    "datasets": set(),
}
EVERYWHERE = {"features.errors", "features.lazy", "features.schemas", "features.threads"}


def source_files():
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    if path.parent == ROOT / "app" / "annealed":
        parts = parts[2:]  # the root of the import package
    return ".".join(("annealed", *parts)).removesuffix(".__init__")


MODULES = [module_name(path) for path in source_files() if path.name != "__main__.py"]


def test_every_folder_with_modules_is_in_the_package_list():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    on_disk = {module_name(path.parent / "__init__.py") for path in source_files()}
    assert set(listed) == on_disk
    for folder in {path.parent for path in source_files()}:
        assert (folder / "__init__.py").is_file(), folder


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_docstrings_hold(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def imported_names(path):
    """Yield (level, dotted name) of every import statement in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""


@pytest.mark.parametrize("path", source_files(), ids=module_name)
def test_imports_go_one_way(path):
    inside = path.relative_to(ROOT).parts
    for level, name in imported_names(path):
        if level == 0:
            assert name.split(".")[0] not in {*FOLDERS, "annealed"}, f"{name}: use a relative import"
        elif level >= len(inside):
            assert level == len(inside), f"{'.' * level}{name} leaves the package"
            target = name.split(".")[0]
            assert target == inside[0] or target in ALLOWED[inside[0]] or name in EVERYWHERE, name


def test_only_app_prints():
    for path in source_files():
        if path.relative_to(ROOT).parts[0] == "app":
            continue
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not any(isinstance(call, ast.Name) and call.id == "print" for call in calls), path
