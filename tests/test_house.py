"""The house stands as it was designed."""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from app.cli import cli

ROOT = Path(__file__).parents[1]
BELOW: dict[str, set[str]] = {
    "data": set(),
    "retrieval": {"data"},
    "detectors": {"data", "retrieval"},
    "annotation": {"data"},
    "evaluation": {"data", "retrieval", "detectors", "annotation"},
    "app": {"data", "retrieval", "detectors", "annotation", "evaluation"},
}
PACKAGES = sorted(BELOW)
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Top-level names of all that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)} imports relatively"
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize("package", PACKAGES)
def test_each_floor_imports_only_floors_below(package: str) -> None:
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    for path in paths:
        ours = set(imported(path)) & set(PACKAGES)
        assert ours <= BELOW[package] | {package}, path.relative_to(ROOT)


def test_streamlit_is_imported_in_the_app_alone() -> None:
    users = {path.relative_to(ROOT).parts[0] for path in SOURCES if "streamlit" in set(imported(path))}
    assert users == {"app"}


def test_no_file_holds_two_ideas() -> None:
    paths = [*SOURCES, *(ROOT / "tests").rglob("*.py")]
    long = {str(p.relative_to(ROOT)): n for p in paths if (n := p.read_text(encoding="utf-8").count("\n")) > 400}
    assert long == {}


def test_files_of_tests_have_names_of_their_own() -> None:
    """Two of one name in different folders are one module to pytest, and the second is not collected."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []


def test_every_function_lives_with_its_idea() -> None:
    names = {"utils.py", "util.py", "helpers.py", "common.py", "misc.py"}
    assert [p for p in [*SOURCES, *(ROOT / "tests").rglob("*.py")] if p.name in names] == []


def test_text_is_never_rendered_as_html() -> None:
    allowed = "unsafe_" + "allow_html"
    assert [p for p in SOURCES if allowed in p.read_text(encoding="utf-8")] == []


def test_the_wheel_holds_every_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert sorted(listed) == sorted(p.parent.name for p in ROOT.glob("*/__init__.py")) == PACKAGES


def test_the_readme_tells_of_commands_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    if not readme.strip():
        pytest.skip("the README is not written yet")
    command = typer.main.get_command(cli)
    known = set(getattr(command, "commands", {}))
    told = set(re.findall(r"(?:^|[`\s/])berdseye ([a-z][a-z-]+)", "\n".join(re.findall(r"`[^`]+`", readme))))
    assert told
    assert told <= known
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", readme)) <= targets
