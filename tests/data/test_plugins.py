"""A package of a stranger adds a retriever, a stage, a detector, a measure and a layout by entry points."""

import importlib
import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from berdseye.app.cli import cli
from berdseye.data import plugins
from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.detectors.detector_registry import detector_kinds, parse_detector
from berdseye.evaluation.measures import parse_measure
from berdseye.retrieval.pipeline_registry import parse_pipeline

PACKAGE = Path(__file__).parents[1] / "plugin_package"


def installed(folder: Path, name: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Write what an installer leaves of a package's metadata into `folder`."""
    information = folder / f"{name.replace('-', '_')}-0.1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n", encoding="utf-8")
    sections = (
        "\n".join([f"[{group}]", *(f"{n} = {v}" for n, v in points.items())]) for group, points in groups.items()
    )
    (information / "entry_points.txt").write_text("\n".join(sections) + "\n", encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, to install packages into."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    plugins._found.cache_clear()
    yield folder
    plugins._found.cache_clear()


@pytest.fixture
def example(site: Path) -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed(site, project["name"], project["entry-points"])
    shutil.copy(PACKAGE / "berdseye_example_plugin.py", site)
    importlib.invalidate_caches()


def output(*arguments: object) -> str:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.usefixtures("example")
def test_one_of_each_works_from_the_command_line(tmp_path: Path) -> None:
    here = ("--workspace", tmp_path / "workspace")
    rows = [{"id": str(n), "text": text} for n, text in enumerate(["cats are good pets", "dogs", "cats are bad"])]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "asked.questions").write_text("Are cats good?\n", encoding="utf-8")
    output("init", *here)
    output("corpus", "add", "pets", tmp_path / "c.jsonl", *here)
    output("dataset", "add", "asked", tmp_path / "asked.questions", *here)
    found = json.loads(
        output("search", "Are cats good?", "--corpus", "pets", "--pipeline", "shortest", "--json", *here)
    )
    assert [row["text"] for row in found] == ["dogs", "cats are bad", "cats are good pets"]
    pipeline = ("--corpus", "pets", "--pipeline", "shortest%3 >> backwards")
    found = json.loads(output("search", "Are cats good?", *pipeline, "--json", *here))
    assert [row["text"] for row in found] == ["cats are good pets", "cats are bad", "dogs"]
    said = json.loads(output("detect", "cats are good pets", "cats are bad", "--detector", "mentions", "--json", *here))
    assert [round(row["probability"], 3) for row in said] == [0.667]
    assert str(parse_measure("FirstHit@3")) == "FirstHit@3"


@pytest.mark.usefixtures("example")
def test_names_of_plugins_are_among_those_suggested() -> None:
    assert "mentions" in detector_kinds()
    for parse, wrong, right in (
        (parse_pipeline, "shortst", "shortest"),
        (parse_pipeline, "bm25%5 >> backward", "backwards"),
        (parse_detector, "mention", "mentions"),
        (parse_measure, "FirstHits@5", "FirstHit"),
    ):
        with pytest.raises(UnknownNameError, match=right):
            parse(wrong)  # type: ignore[operator]


def test_a_plugin_cannot_take_a_built_in_name(site: Path) -> None:
    installed(site, "taker", {"berdseye.retrievers": {"bm25": "no_such_module:take"}})
    assert str(parse_pipeline("bm25")) == "bm25"


def test_a_broken_plugin_is_one_error_that_names_its_package(site: Path, tmp_path: Path) -> None:
    (site / "broken_plugin.py").write_text("raise RuntimeError('no licence')\n", encoding="utf-8")
    groups = {f"berdseye.{kind}": {"odd": "broken_plugin:odd"} for kind in ("retrievers", "detectors", "layouts")}
    installed(site, "broken-plugin", groups)
    importlib.invalidate_caches()
    unknown = tmp_path / "rows.odd"
    unknown.write_text("?", encoding="utf-8")
    from berdseye.data.datasets.layouts import read_dataset

    for act, what in ((parse_pipeline, "odd"), (parse_detector, "odd"), (read_dataset, unknown)):
        with pytest.raises(UnavailableError, match=r"broken-plugin .* RuntimeError: no licence\. Update broken-plugin"):
            act(what)  # type: ignore[operator]


def test_two_packages_with_one_name_are_an_error(site: Path) -> None:
    for name in ("first-plugin", "second-plugin"):
        installed(site, name, {"berdseye.detectors": {"odd": "some_module:odd"}})
    with pytest.raises(UnavailableError, match="first-plugin and second-plugin"):
        parse_detector("odd")


def test_files_of_no_layout_are_reported_as_before(site: Path, tmp_path: Path) -> None:
    del site
    unknown = tmp_path / "rows.odd"
    unknown.write_text("?", encoding="utf-8")
    from berdseye.data.datasets.layouts import read_dataset

    with pytest.raises(BadInputError, match=r"\.jsonl, \.json, \.csv, \.tsv or \.parquet"):
        read_dataset(unknown)
