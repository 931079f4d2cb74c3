"""A made dump becomes the queries and evidence that it was made with, however often the work is stopped."""

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.datasets.evidence_sets import read_evidence_set
from berdseye.data.datasets.stored import GOLD, load_dataset, remove_dataset
from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.labels import LabelStore
from berdseye.data.records import pair_key
from berdseye.data.wikipedia.dump import Dump
from berdseye.data.wikipedia.wikitext import introduction
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.dmerit.evidence import claim
from berdseye.evaluation.construction.dmerit.kind import DMERIT, evidence_folder
from berdseye.evaluation.construction.dmerit.lists import BETWEEN
from berdseye.evaluation.construction.finishing import finish
from berdseye.evaluation.construction.reporting import funnel, reasons
from berdseye.evaluation.construction.running import expected, run_construction
from berdseye.evaluation.construction.stored import Construction
from tests.data.wikipedia.made_dump import MadeDump, confirms, make_dump
from tests.evaluation.construction.constructed import lines, scripted, step_bytes
from tests.evaluation.construction.dmerit.made_wiki import begun, dump_file, reader


def _hierarchy(title: str, section: str, column: str) -> str:
    return BETWEEN.join(part for part in (title, section, column) if part)


def test_lists_and_members_are_those_that_the_dump_was_made_with(made: MadeDump, done: Construction) -> None:
    kept = {row.fields["hierarchy"]: [m["title"] for m in row.fields["members"]] for row in done.kept("members")}
    assert kept == {
        _hierarchy(one.title, column.section, column.column): list(column.members)
        for one in made.lists
        for column in one.columns
        if not column.discarded
    }
    why = reasons(done)
    assert why["lists"] == {
        "a cell is empty": 1,
        "a value links to no article": 1,
        "no column of names": 1,
        "the table does not close": 1,
    }
    assert why["members"] == {"a value links to no article": 1, "a member has more than 50 references": 1}


def test_candidates_are_the_articles_that_link_to_a_member_or_its_alias(made: MadeDump, done: Construction) -> None:
    names = defaultdict(set)
    for alias, target in made.redirects.items():
        names[target] |= {alias, target}
    pages = [page for page in Dump(made.path).pages() if page.namespace == 0 and not page.redirect]
    found = defaultdict(set)
    for row in done.kept("candidates"):
        found[row.fields["member"]].add(row.fields["article"])
    assert len(found) > 30
    for member, articles in found.items():
        marks = [f"[[{name}{end}" for name in names[member] | {member} for end in "|]#"]
        assert articles == {p.title for p in pages if p.title == member or any(mark in p.text for mark in marks)}


def test_evidence_is_every_passage_that_confirms_a_member(made: MadeDump, done: Construction) -> None:
    texts = {page.title: introduction(page.text).text for page in Dump(made.path).pages() if page.namespace == 0}
    subjects = {one.title: (one.kind, one.place) for one in made.lists}
    evidence = {row.fields["hierarchy"]: row.fields["evidence"] for row in done.kept("queries")}
    assert len(evidence) >= 5
    for hierarchy, passages in evidence.items():
        kind, place = subjects[hierarchy.split(BETWEEN)[0]]
        members = next(row.fields["members"] for row in done.kept("members") if row.fields["hierarchy"] == hierarchy)
        says = {t for t, text in texts.items() if any(confirms(text, m["title"], kind, place) for m in members)}
        assert {passage["article"] for passage in passages} == says
        assert len(passages) >= 5


def test_a_query_keeps_its_hierarchy_and_gets_a_line_in_natural_words(made: MadeDump, done: Construction) -> None:
    row = done.kept("natural")[0]
    one = next(one for one in made.lists if one.title == row.fields["hierarchy"].split(BETWEEN)[0])
    assert row.fields["question"].startswith(f"{one.kind} in {one.place}")
    assert row.origin["natural"]["model"] == "api(scripted)"
    assert row.origin["natural"]["raw"][0].startswith('"')


def test_the_data_set_is_an_evidence_set_a_corpus_and_gold_labels(made: MadeDump, done: Construction) -> None:
    rows = done.kept("natural")
    found = read_evidence_set(evidence_folder(done.working()))
    assert found.notes == ()
    assert found.relevant == {r.id: tuple(p["passage"] for p in r.fields["evidence"]) for r in rows}
    assert len(found.passages) == made.articles
    assert set(found.popularity) == {passage.source_id for passage in found.passages}
    corpus = open_corpus(done.workspace, "lists")
    assert corpus.manifest.count == made.articles
    questions = load_dataset(done.workspace, "lists")
    assert [(q.id, q.text) for q in questions] == [(r.id, r.fields["question"]) for r in rows]
    texts = {passage.source_id: passage.text for passage in found.passages}
    asked = [r for r in done.rows("identified") if r.fields["list"] in found.relevant]
    keys = [pair_key(texts[r.fields["passage"]], claim(r.fields["member"], r.fields["hierarchy"])) for r in asked]
    gold = LabelStore(done.workspace).get(GOLD, keys)
    assert gold.tolist() == [float(not r.rejected) for r in asked]
    assert 0 < np.mean(gold) < 0.9
    claims = {p.text for q in questions for p in q.perspectives}
    positive = {claim(r.fields["member"], r.fields["hierarchy"]) for r in asked if not r.rejected}
    assert claims == positive


def test_work_that_is_stopped_at_every_step_resumes_with_the_same_bytes(
    made: MadeDump, done: Construction, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    construction = begun(workspace, made)
    answer, store, stopped = reader(made), Construction.store, set[str]()

    def stop_first(self: Construction, step: str, *rest: object) -> None:
        if step not in stopped:
            stopped.add(step)
            raise KeyboardInterrupt
        store(self, step, *rest)  # type: ignore[arg-type]

    def failing(asked: str) -> str:
        if len(model.asked) in (7, 60):
            raise UnavailableError("The server is gone.")
        return answer(asked)

    model = scripted(monkeypatch, failing)
    monkeypatch.setattr(Construction, "store", stop_first)
    for _ in range(2 * len(construction.step_names)):
        try:
            run_construction(construction)
        except (KeyboardInterrupt, UnavailableError):
            continue
        break
    assert stopped == set(construction.step_names)
    assert step_bytes(construction) == step_bytes(done)
    assert len(model.asked) == len(set(model.asked)) + 2, "nothing is asked twice but what failed"
    finish(construction, "lists")
    for name in ("queries.jsonl", "corpus.jsonl"):
        assert (evidence_folder(construction.working()) / name).read_bytes() == (
            evidence_folder(done.working()) / name
        ).read_bytes()


def test_a_model_that_answers_nonsense_is_survived_and_counted(
    made: MadeDump, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = reader(made)
    odd = {"lakes": "Perhaps.", "castles": "It is\nhard » to say."}

    def nonsense(asked: str) -> str:
        kind = next((kind for kind in odd if f"List of {kind}" in asked.split("<list>")[1]), "")
        if kind == "lakes" or (kind and "<passage>" not in asked):
            return odd[kind]
        return answer(asked)

    scripted(monkeypatch, nonsense)
    construction = begun(workspace, made)
    run_construction(construction)
    why = reasons(construction)
    assert why["identified"]["neither Yes nor No"] > 0
    assert sum(why["natural"].values()) > 0
    assert not any("lakes" in row.fields["hierarchy"] for row in construction.rows("queries"))
    assert all("castles" not in row.fields["hierarchy"] for row in construction.kept("natural"))


def test_a_person_keeps_a_list_that_a_rule_discards(
    made: MadeDump, done: Construction, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, reader(made))
    construction = begun(workspace, made)
    run_construction(construction, until="members")
    row = next(row for row in construction.rows("lists") if row.rejected.startswith("a cell is empty"))
    construction.overrule("lists", {row.id: "the empty row has no name yet"}, keep=True, made_by="ada")
    run_construction(construction, until="members")
    assert {r.id for r in construction.kept("members")} - {r.id for r in done.kept("members")} == {row.id}


def test_a_dry_run_asks_nothing(made: MadeDump, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    model = scripted(monkeypatch, reader(made))
    steps = {step.name: step for step in expected(begun(workspace, made))}
    assert steps["sources"].rows == 12
    assert steps["identified"].cost is not None
    assert steps["identified"].cost.calls == 1_200
    assert model.asked == []


def test_what_cannot_become_a_data_set_is_refused(
    made: MadeDump, done: Construction, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, reader(made))  # the completions are stored already
    strict = begun(done.workspace, made, "strict", fewest_evidence=1_000)
    run_construction(strict)
    assert set(reasons(strict)["queries"]) == {"fewer than 1000 passages of evidence"}
    with pytest.raises(BadInputError, match="Nothing is left"):
        finish(strict, "strict")
    with pytest.raises(UnknownNameError, match="value of --corpus 'some'"):
        begun(done.workspace, made, "odd", corpus="some")
    small = begun(done.workspace, made, "small", corpus="candidates")
    run_construction(small)
    finish(small, "small")
    assert 50 < open_corpus(done.workspace, "small").manifest.count < 300
    with pytest.raises(BadInputError, match="The data set 'small' and the corpus 'small' already exist"):
        finish(small, "small")
    remove_dataset(done.workspace, "small")
    with pytest.raises(BadInputError, match="The corpus 'small' already exists"):
        finish(small, "small")
    with pytest.raises(BadInputError, match="reads one dump"):
        DMERIT.read(replace(done.working(), sources={"a": made.path, "b": made.path}))


def test_a_data_set_is_replaced_with_its_corpus_and_gold_labels(
    made: MadeDump, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, reader(made))
    construction = begun(workspace, made)
    run_construction(construction)
    finish(construction, "lists")
    before = _gold(workspace)
    dropped, *_ = construction.kept("natural")
    construction.overrule("natural", {dropped.id: "of no use"}, keep=False, made_by="ada")
    pair = next(row for row in construction.kept("identified") if row.fields["list"] != dropped.id)
    construction.overrule("identified", {pair.id: "says nothing of it"}, keep=False, made_by="ada")
    run_construction(construction)
    add_corpus(workspace, "lists", lines(workspace.folder / "one.jsonl", {"id": "1", "text": "One."}), replace=True)
    finish(construction, "lists", replacing=True)
    assert dropped.id not in [question.id for question in load_dataset(workspace, "lists")]
    assert open_corpus(workspace, "lists").manifest.count > 1
    after = _gold(workspace)
    of_dropped = {row.id for row in construction.rows("identified") if row.fields["list"] == dropped.id}
    assert len(before) - len(of_dropped) <= len(after) < len(before), "the labels of the dropped list are gone"
    assert [(before[key], value) for key, value in after.items() if before[key] != value] == [(1.0, 0.0)]


def _gold(workspace: Workspace) -> dict[str, float]:
    table = LabelStore(workspace).table(GOLD, "lists")
    return dict(zip(table["pair"].to_pylist(), table["probability"].to_pylist(), strict=True))


def test_2000_articles_with_40_lists_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_dump(dump_file(tmp_path), 2_000, 40, words=20)
    scripted(monkeypatch, reader(made))
    construction = begun(Workspace.create(tmp_path / "workspace"), made)
    run_construction(construction)
    stages = {stage.step: stage for stage in funnel(construction)}
    columns = [column for one in made.lists for column in one.columns]
    assert stages["members"].kept == sum(not column.discarded for column in columns)
    lines = finish(construction, "lists")
    assert lines[1] == "corpus lists: 2,000 passages"
    with (evidence_folder(construction.working()) / "queries.jsonl").open(encoding="utf-8") as file:
        queries = [json.loads(line) for line in file]
    assert len(queries) == stages["natural"].kept
    assert f"queries\t{len(queries)}\tD-MERIT, section 2.6: 1,196" in lines
