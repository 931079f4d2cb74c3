"""Hostile texts in every place that people and sources can write to: pages show them as text, as they were typed."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from berdseye.annotation.batches.stored import BatchPlan, Item, create_batch
from berdseye.annotation.guidelines.versions import use
from berdseye.annotation.judgments.log import Annotator, Judgments, PairRecord
from berdseye.annotation.perspective_edits.changes import Change
from berdseye.annotation.perspective_edits.log import EditLog
from berdseye.annotation.perspective_edits.versions import create_version
from berdseye.app.access.session import judgments as shared_judgments
from berdseye.app.components.plain_text import JOINER, escaped, without_pictures
from berdseye.data.corpora import add_corpus, open_corpus
from berdseye.data.datasets.stored import save_dataset
from berdseye.data.records import Perspective, Question
from berdseye.data.workspace import Workspace
from berdseye.detectors.labelling import label_function
from berdseye.retrieval.running import run_pipeline

VIEWS = Path(__file__).resolve().parents[3] / "app" / "views"
ATTACK = (
    "<b>x</b> **y** [l](https://evil.example/a) ![p](http://evil.example/p) eve@evil.example www.evil.example "
    "https://evil.example $z$ :red[w] `c` =1+1"
)
RAW = re.compile(r"<b>|\*\*y|\]\(http|https?\\?:\\?/\\?/evil|e\\?@evil|www\\?\.evil|(?<!\\)\$z|:red\[w|`c`")
"""Parts of it that Markdown would draw as something else unless they are escaped; addresses become links even so."""
QUESTION, PERSPECTIVE, TITLE, PASSAGE, SOURCE, COMMENT, REASON = (
    f"{place} {ATTACK}" for place in ("Question", "Perspective", "Title", "Passage", "Source", "Comment", "Reason")
)
NAMES = ("question", "title", f"Ana {ATTACK}"[:100])
"""Two of them are what columns of tables are called."""
GUIDELINES = "Read **all**. ![p](http://evil.example/guide) ![q][r]\n\n[r]: http://evil.example/r"
SHOWN = {
    "explore": (QUESTION, PERSPECTIVE, TITLE, PASSAGE),
    "perspectives": (QUESTION, PERSPECTIVE, COMMENT, REASON, NAMES[2]),
    "adjudication": (QUESTION, PERSPECTIVE, TITLE, PASSAGE, COMMENT),
    "agreement": (NAMES[2],),
    "passage?id=0&part=Runs": (TITLE, PASSAGE, SOURCE),
}
"""Five pages that between them show every kind of text, and what must be seen on each. test_plain_text.py tries many texts
on the function that escapes them."""
PLAIN = {
    "options",
    "default",
    "value",
    "values",
    "raw_value",
    "raw_values",
    "placeholder",
    "raw_options",
    "spec",
    "json_data",
    "arrow_data",
    "id",
}
PLAIN |= {
    "json",
    "json_args",
    "code_text",
    "column_order",
    "columns",
    "url",
    "element_toolbar",
    "user_key",
    "form_id",
    "formatted",
}
"""Fields that the front end does not read as Markdown."""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("hostile")
    workspace = Workspace.create(folder / "workspace")
    rows = [{"id": SOURCE, "title": TITLE, "text": PASSAGE, "url": f"javascript:{ATTACK}"}]
    (folder / "made.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    add_corpus(workspace, "made", folder / "made.jsonl")
    views = (Perspective(PERSPECTIVE, "supporting", ATTACK), Perspective("Plain.", "opposing"))
    save_dataset(workspace, "made", [Question(f"q {ATTACK}", "made", QUESTION, views)])
    run_pipeline(workspace, "made", "made", "bm25", 5, label_function=label_function(workspace))
    held = Judgments.open(workspace.judgments_url)
    people = [held.sign_in(name) for name in NAMES]
    _judged(workspace, held, people)
    _edited(workspace, held, people)
    held.engine.dispose()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BERDSEYE_WORKSPACE", str(workspace.folder))
        patched.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
        st.cache_resource.clear()
        st.cache_data.clear()
        yield workspace
        shared_judgments().engine.dispose()
        st.cache_resource.clear()
        st.cache_data.clear()


def _judged(workspace: Workspace, held: Judgments, people: list[Annotator]) -> None:
    """Everyone judges the pair, not all alike, and flags it; another pair waits in a batch."""
    (passage,) = (p for batch in open_corpus(workspace, "made").batches() for p in batch)
    where = ("made", f"q {ATTACK}", QUESTION)
    pair = PairRecord(*where, PERSPECTIVE, "supporting", "made", passage.title, passage.text, passage.url)
    (key,) = held.add_pairs([pair])
    for person, verdict in zip(people, ("supports", "does not support", "supports"), strict=True):
        held.judge(person, key, verdict, source="annotate", comment=COMMENT)
    held.flag(people[2], key, source="annotate", comment=COMMENT)
    create_batch(held, BatchPlan("made", made_by=NAMES[2]), [Item(replace(pair, passage=f"{PASSAGE} again"))])
    use(held, GUIDELINES, made_by=NAMES[2])


def _edited(workspace: Workspace, held: Judgments, people: list[Annotator]) -> None:
    log = EditLog(workspace, held, "made")
    for text, decided in ((f"New {ATTACK}", True), (f"Newer {ATTACK}", False)):
        edit = log.propose(people[2], f"q {ATTACK}", Change.of("propose", (), (Perspective(text),)), comment=REASON)
        if decided:
            log.accept(people[0], edit.id, comment=REASON)
    create_version(log, NAMES[2])


def _drawn(address: str) -> AppTest:
    page, _, query = address.partition("?")
    at = AppTest.from_file(str(VIEWS / f"{page}.py"), default_timeout=60)
    for name, value in parse_qsl(query):
        at.query_params[name] = value
    at.session_state["annotator"] = shared_judgments().sign_in("Reader")
    at.query_params["of"] = "all judgments"
    at.run()
    assert not at.exception, [e.value for e in at.exception]
    assert not at.error, [e.value for e in at.error]
    return at


def _markdown(at: AppTest) -> list[str]:
    """Every text of a page that the front end draws as Markdown."""
    found: list[str] = []
    blocks = list(at._tree.children.values())
    while blocks:
        block = blocks.pop()
        blocks += getattr(block, "children", {}).values()
        if block.type == "arrow_table":
            frame: pd.DataFrame = block.value  # type: ignore[union-attr]
            found += [str(cell) for cell in (*frame.columns, *frame.index, *frame.to_numpy().ravel())]
        elif (proto := getattr(block, "proto", None)) is not None:
            found += _texts(proto)
    return found


def _texts(message: Any) -> list[str]:
    found: list[str] = []
    for field, value in message.ListFields():
        if field.name in PLAIN:
            continue
        for one in value if field.is_repeated else [value]:
            if isinstance(one, str):
                found.append(one)
            elif hasattr(one, "ListFields"):
                found += _texts(one)
    return found


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("page", SHOWN)
def test_pages_show_hostile_words_as_text(page: str) -> None:
    markdown = _markdown(_drawn(page))
    assert not [text for text in markdown if RAW.search(OWN_LINK.sub("]", text.replace(GUIDELINES_SHOWN, "")))]
    coloured = re.sub(r":yellow-background\[(.*?)(?<!\\)\]", r"\1", " ".join(markdown))
    shown = " ".join(coloured.replace("\\", "").replace(JOINER, "").split())
    for words in SHOWN[page]:
        assert words in shown, f"{words} is not on the page"


OWN_LINK = re.compile(r"\]\((?:\./|\w+)\?[^()\s]*\)")
"""The way to another page of ours: what stands in it is encoded."""
GUIDELINES_SHOWN = without_pictures(GUIDELINES)
"""Of guidelines the Markdown is drawn, and no picture is fetched."""


def test_the_pattern_finds_every_part_of_the_attack_until_it_is_escaped() -> None:
    assert len(set(RAW.findall(ATTACK))) == 9
    assert not RAW.search(escaped(ATTACK))
