"""The demo content: 24 questions, two corpora of passages, a corpus of saved web pages, and the authors' gold labels.

The file that says a workspace holds the whole demo, so that a second start need not look at every part.
"""

import json
import tempfile
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import lxml.html

from berdseye.data.corpora import Corpus, Kind, add_corpus, cut_page
from berdseye.data.datasets.stored import GOLD, save_dataset
from berdseye.data.files.atomic import write_json
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair, Perspective, Question
from berdseye.data.workspace import Workspace

_MARKER = "demo.json"
_CONTENT_VERSION = 1


def mark_demo(folder: Path) -> None:
    """Say that the demo is complete; written after everything else."""
    write_json(folder / _MARKER, {"content": _CONTENT_VERSION})


def is_demo(folder: Path) -> bool:
    """Whether the whole demo of this version stands in the folder."""
    try:
        return f'"content": {_CONTENT_VERSION}' in (folder / _MARKER).read_text(encoding="utf-8")
    except OSError:
        return False


DATASETS = ("debate", "policy", "living")
CORPORA: dict[str, Kind] = {"encyclopedia": "passages", "web": "passages", "pages": "pages"}
_HERE = files("berdseye.data.demo")
_PARAGRAPH_WORDS = 65


@lru_cache(maxsize=1)
def topics() -> tuple[dict[str, Any], ...]:
    """The topics as their authors wrote them, by name."""
    found = sorted((p for p in (_HERE / "topics").iterdir() if p.name.endswith(".json")), key=lambda p: p.name)
    return tuple(json.loads(p.read_text(encoding="utf-8")) for p in found)


def add_demo_corpus(workspace: Workspace, name: str) -> None:
    """Add one of the demo corpora, through the same reader as anybody's files."""
    if CORPORA[name] == "pages":
        with as_file(_HERE / "pages") as folder:
            add_corpus(workspace, name, folder, kind="pages", replace=True)
        return
    with tempfile.TemporaryDirectory() as folder_name:
        source = Path(folder_name) / f"{name}.jsonl"
        with source.open("w", encoding="utf-8") as file:
            for topic in topics():
                for number, passage in enumerate(topic["passages"]):
                    if passage["corpus"] == name:
                        row = {
                            "id": f"{topic['topic']}-{number}",
                            **{k: passage[k] for k in ("title", "text", "url")},
                        }
                        file.write(json.dumps(row, ensure_ascii=False) + "\n")
        add_corpus(workspace, name, source, replace=True)


def add_demo_dataset(workspace: Workspace, name: str) -> None:
    """Add one of the demo data sets: `debate` (two sides), `policy` (many answers) or `living` (everyday choices)."""
    questions = [
        Question(
            t["topic"],
            name,
            t["question"],
            tuple(Perspective(p["text"], p["stance"]) for p in t["perspectives"]),
        )
        for t in topics()
        if t["dataset"] == name
    ]
    save_dataset(workspace, name, questions)


def add_demo_gold(workspace: Workspace) -> int:
    """Store the authors' label of every (passage, perspective) of a topic; returns how many. Needs the corpora."""
    gold = {**_passage_gold(), **_page_gold(workspace)}
    LabelStore(workspace).put(GOLD, "demo", [p.key for p in gold], [float(v) for v in gold.values()])
    return len(gold)


def _passage_gold() -> dict[Pair, bool]:
    return {
        Pair(passage["text"], perspective["text"]): place in passage["supports"]
        for topic in topics()
        for passage in topic["passages"]
        for place, perspective in enumerate(topic["perspectives"])
    }


def _page_gold(workspace: Workspace) -> dict[Pair, bool]:
    """Authors labelled the paragraphs of a page; a passage supports what the paragraphs it holds support."""
    corpus = Corpus(workspace.corpus_folder("pages"))
    cut = {page.source_id: cut_page(page) for batch in corpus.batches() for page in batch}
    gold: dict[Pair, bool] = {}
    for topic in topics():
        for page in topic["pages"]:
            paragraphs = _paragraphs((_HERE / "pages" / page["file"]).read_bytes())
            labelled = list(zip(paragraphs, page["supports"], strict=True))
            for passage in cut[page["file"]]:
                supported = {i for text, supports in labelled if text in passage.text for i in supports}
                for place, perspective in enumerate(topic["perspectives"]):
                    gold[Pair(passage.text, perspective["text"])] = place in supported
    return gold


def _paragraphs(html: bytes) -> list[str]:
    """The content paragraphs of a demo page: those too long to be a notice or a menu."""
    texts = (" ".join(p.text_content().split()) for p in lxml.html.fromstring(html).iter("p"))
    return [text for text in texts if len(text.split()) >= _PARAGRAPH_WORDS]
