"""The house stands as it was designed."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import typer.main

from berdseye.app.cli import cli

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
    """Dotted names of all modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)} imports relatively"
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_floor_imports_only_floors_below(package: str) -> None:
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    for path in paths:
        names = [name.split(".") for name in imported(path)]
        plain = {name[0] for name in names} & set(PACKAGES)
        assert plain == set(), f"{path.relative_to(ROOT)} imports {plain} without `berdseye.`"
        ours = {name[1] for name in names if name[0] == "berdseye"}
        assert ours <= BELOW[package] | {package}, path.relative_to(ROOT)


def module_of(path: Path) -> str:
    """The dotted name of the module in a file."""
    return ".".join(["berdseye", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")


MODULES = {module_of(path): path for path in SOURCES}
IMPORTS: dict[str, set[str]] = {
    name: {
        module
        for imported_name in imported(path)
        for module in (imported_name, imported_name.rpartition(".")[0])
        if module in MODULES and module != name
    }
    for name, path in MODULES.items()
}
"""The modules of Berdseye that each module imports, in functions and for types too."""


def test_no_modules_import_each_other() -> None:
    """Also not through others: each module can be read after those that it imports."""
    order = list(TopologicalSorter(IMPORTS).static_order())
    assert set(order) == set(MODULES)


def test_python_needs_no_command() -> None:
    """What a command and the Python API both do is in a module that both import."""
    needed: set[str] = set()
    found = {name for name in MODULES if name.startswith("berdseye.app.python")}
    assert found
    while found:
        needed |= found
        found = set().union(*(IMPORTS[name] for name in found)) - needed
    assert {name for name in needed if name.startswith(("berdseye.app.commands", "berdseye.app.cli"))} == set()


def test_streamlit_is_imported_in_the_app_alone() -> None:
    users = {
        path.relative_to(ROOT).parts[0]
        for path in SOURCES
        if any(name.partition(".")[0] == "streamlit" for name in imported(path))
    }
    assert users == {"app"}


def test_files_of_the_package_are_found_where_the_package_is() -> None:
    """A plain name is a module of the working folder, if it is any."""
    named = {path: re.findall(r"\bfiles\(\"([\w.]+)\"\)", path.read_text(encoding="utf-8")) for path in SOURCES}
    assert [p for p, names in named.items() if any(n.partition(".")[0] != "berdseye" for n in names)] == []


def test_files_of_tests_have_names_of_their_own() -> None:
    """Two of one name in different folders are one module to pytest, and the second is not collected."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []


ROOMS = {"tests/data/data_sets": "data/datasets"}
"""Tests of a room under another name: a folder `datasets` would be imported in place of the library of that name."""


def test_tests_lie_in_the_room_of_what_they_test() -> None:
    folders = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    rooms = {folder: ROOT / ROOMS.get(folder, folder.partition("/")[2]) for folder in folders}
    tested = {folder: room for folder, room in rooms.items() if folder.partition("/")[2].partition("/")[0] in PACKAGES}
    assert set(ROOMS) < set(tested)
    assert [f for f, room in tested.items() if not room.is_dir() and not room.with_suffix(".py").is_file()] == []


def test_every_function_lives_with_its_idea() -> None:
    names = {"utils.py", "util.py", "helpers.py", "common.py", "misc.py"}
    assert [p for p in [*SOURCES, *(ROOT / "tests").rglob("*.py")] if p.name in names] == []


HTML = {"html", "iframe"}
"""What Streamlit calls its functions that take HTML: `st.html`, `st.iframe`, `components.html` and `components.v1.html`."""


def rendered_as_html(source: str) -> Iterator[str]:
    """Calls that may render text as HTML: they allow it, or they give HTML that is not written out in the source."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if any(keyword.arg in ("unsafe_allow_html", "unsafe_allow_javascript") for keyword in node.keywords):
            yield ast.unparse(node)
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg in (None, "body", "html", "src"))]
        takes_html = isinstance(node.func, ast.Attribute) and node.func.attr in HTML
        if takes_html and called.startswith(("st.", "streamlit.", "components.")):
            yield from (ast.unparse(node) for value in given if not is_ours(value))


def is_ours(value: ast.expr) -> bool:
    """Whether a value is text of the source: a literal, a constant (NAMED_SO), or an f-string of such."""
    if isinstance(value, ast.JoinedStr):
        return all(map(is_ours, value.values))
    if isinstance(value, ast.FormattedValue):
        return is_ours(value.value)
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id.isupper())


LEGENDS = {"app/components/holes.py", "app/components/two_lists.py", "app/views/documentation.py"}
"""Their HTML is made of colours, ranks, numbers of perspectives and sizes of our own pictures, and of no text of anybody."""


@pytest.mark.parametrize(
    ("source", "renders"),
    [
        ("st.markdown(text, unsafe_allow_html=True)", True),
        ("st.sidebar.markdown(text, **{'a': 1}, unsafe_allow_html=allowed)", True),
        ("st.html(text)", True),
        ("st.sidebar.html(f'<b>{text}</b>')", True),
        ("st.html(body='<style>' + css)", True),
        ("components.html(text, height=100)", True),
        ("st.components.v1.html(text)", True),
        ("st.html('<style>p {color: red}</style>')", False),
        ("st.html(f'<style>{_CARDS}{CHIPS}</style>')", False),
        ("st.markdown(text)", False),
        ("report.html(text)", False),
    ],
)
def test_calls_that_render_html_are_seen(source: str, renders: bool) -> None:
    assert bool(list(rendered_as_html(source))) == renders


def test_text_is_never_rendered_as_html() -> None:
    found = {str(p.relative_to(ROOT)): list(rendered_as_html(p.read_text(encoding="utf-8"))) for p in SOURCES}
    assert {path: len(calls) for path, calls in found.items() if calls} == dict.fromkeys(LEGENDS, 1)


DOCUMENTATION = ("docs", "README.md")
"""What is no code and is packed all the same, because the app shows it."""


def test_every_folder_is_a_part_of_the_package() -> None:
    linked = {path.name: path.resolve() for path in (ROOT / "berdseye").iterdir() if path.is_symlink()}
    assert linked == {name: ROOT / name for name in (*PACKAGES, *DOCUMENTATION)}
    assert sorted(path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name != "berdseye") == PACKAGES


def test_the_readme_names_commands_that_exist() -> None:
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


def test_what_only_the_full_loop_runs_exists() -> None:
    for line in (ROOT / "tests" / "full.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            path, _, test = line.partition("::")
            assert (ROOT / path).exists(), line
            assert not test or re.search(rf"\b{test}\b", (ROOT / path).read_text(encoding="utf-8")), line


def test_no_test_module_is_imported_by_another() -> None:
    tests = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    for path in (ROOT / "tests").rglob("*.py"):
        used = {part for name in imported(path) if name.startswith(("test_", "tests.")) for part in name.split(".")}
        assert not used & tests, f"{path.relative_to(ROOT)} imports {used & tests}: move what they share to a module"
