"""Names of sources of perspectives."""

from pathlib import Path

import pytest

from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.grammar import parse
from berdseye.data.workspace import Workspace
from berdseye.retrieval.expansion.protocol import ExpansionSource, expanded_queries
from berdseye.retrieval.expansion.source_registry import parse_source


def read(text: str, workspace: Workspace | None) -> ExpansionSource:
    return parse_source(parse(text)[0], workspace)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = tmp_path / "here" / "my views.jsonl"
    path.write_text('{"question": "Why?", "perspectives": ["Because."]}')
    (tmp_path / "here" / "views.jsonl").write_bytes(path.read_bytes())
    return path


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("views.jsonl", "file(views.jsonl)"),
        ("./views.jsonl", "file(./views.jsonl)"),
        ('"my views.jsonl"', 'file("my views.jsonl")'),
        ('file("my views.jsonl")', 'file("my views.jsonl")'),
        ("file(views.jsonl)", "file(views.jsonl)"),
    ],
)
def test_files_by_their_path(workspace: Workspace, file: Path, written: str, name: str) -> None:
    assert file.exists()
    for where in (workspace, None):
        source = read(f"expand({written})", where)
        assert source.name == name
        assert source.perspectives(["Why?"]) == [("Because.",)]
        assert read(f"expand({source.name})", where) == source


def test_a_file_of_the_workspace_comes_first(workspace: Workspace, file: Path) -> None:
    assert file.exists()
    (workspace.folder / "views.jsonl").write_text('{"question": "Why?", "perspectives": ["In the workspace."]}')
    assert read("expand(views.jsonl)", workspace).perspectives(["Why?"]) == [("In the workspace.",)]


def test_typed_and_models(workspace: Workspace) -> None:
    assert read("expand(manual)", workspace).name == "manual"
    assert read("expand(typed)", workspace).name == "manual", "as in the names of runs of earlier versions"
    assert read("expand(api(gpt-4o-mini))", workspace).name == "api(gpt-4o-mini)"
    assert read("expand(local(org/name))", workspace).name == "local(org/name)"
    assert parse_source(parse("api(a)")[0], workspace).name == "api(a)"
    with pytest.raises(UnavailableError, match="no default language model"):
        read("expand(llm)", workspace)
    (workspace.folder / "berdseye.toml").write_text('[language_models]\ndefault = "api(a)"')
    assert read("expand(llm)", Workspace.open(workspace.folder)).name == "api(a)"


@pytest.mark.parametrize(
    ("written", "kind", "said"),
    [
        ("lml", UnknownNameError, "Did you mean llm"),
        ("nothing.jsonl", BadInputError, "nothing.jsonl: The file does not exist"),
        (f'"{"Too long. " * 500}"', BadInputError, "The file does not exist"),
        ("a/b", BadInputError, "a/b: The file does not exist"),
        ("file", BadInputError, "wrong arguments"),
        ("file(a,b)", BadInputError, "wrong arguments"),
        ("manual(x)", BadInputError, "wrong arguments"),
        ("api(a,temperature=1)", UnknownNameError, "Unknown parameter of api 'temperature'"),
        ("api(a,prompt=none.txt)", BadInputError, "none.txt: The file does not exist"),
        ("3", BadInputError, "no source of perspectives"),
        ("api(a)%3", BadInputError, "no source of perspectives"),
        ("llm,typed", BadInputError, "wrong arguments"),
        ("llm(prompt=a)", UnavailableError, "no default language model"),
    ],
)
def test_what_is_wrong_is_reported(workspace: Workspace, written: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as error:
        read(f"expand({written})", workspace)
    assert said in str(error.value)


@pytest.mark.parametrize("written", ["manual", "llm", "api(a)"])
def test_some_sources_need_a_workspace(written: str) -> None:
    with pytest.raises(BadInputError, match="kept in a workspace"):
        read(f"expand({written})", None)


def test_what_is_searched() -> None:
    assert expanded_queries("Why?", ("Because.", "No reason.")) == ["Why? Because.", "Why? No reason."]
    assert expanded_queries("Why?", ("Because.", "No reason."), "paper") == ["Because.", "No reason."]
    assert expanded_queries("Why?", ()) == expanded_queries("Why?", (), "paper") == ["Why?"]
