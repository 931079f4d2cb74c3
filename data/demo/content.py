"""The demo content: 24 questions, two corpora of passages, a corpus of saved web pages, and the authors' gold labels.

A marker file records that a workspace contains the complete demo, so that a later start need not check every part.
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

DATASETS = ("debate", "policy", "living")
CORPORA: dict[str, Kind] = {"encyclopedia": "passages", "web": "passages", "pages": "pages"}
_HERE = files("berdseye.data.demo")
_PARAGRAPH_WORDS = 65
_MARKER = "demo.json"
_CONTENT_VERSION = 1


def mark_demo(folder: Path) -> None:
    """Write the marker that the demo is complete; call this last."""
    write_json(folder / _MARKER, {"content": _CONTENT_VERSION})


def is_demo(folder: Path) -> bool:
    """Whether the folder contains the complete demo of this content version."""
    try:
        return f'"content": {_CONTENT_VERSION}' in (folder / _MARKER).read_text(encoding="utf-8")
    except OSError:
        return False


@lru_cache(maxsize=1)
def topics() -> tuple[dict[str, Any], ...]:
    """The topics as their authors wrote them, sorted by file name."""
    paths = sorted((p for p in (_HERE / "topics").iterdir() if p.name.endswith(".json")), key=lambda p: p.name)
    return tuple(json.loads(p.read_text(encoding="utf-8")) for p in paths)


def add_demo_corpus(workspace: Workspace, name: str) -> None:
    """Add one of the demo corpora with `add_corpus`, as a user's files are added."""
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
    """Store the authors' gold label of every pair of a topic; returns their number. The corpora must exist."""
    gold = {**_passage_gold(), **_page_gold(workspace)}
    values, texts = [float(v) for v in gold.values()], [p.perspective for p in gold]
    LabelStore(workspace).put(GOLD, "demo", [p.key for p in gold], values, perspectives=texts)
    return len(gold)


def _passage_gold() -> dict[Pair, bool]:
    return {
        Pair(passage["text"], perspective["text"]): place in passage["supports"]
        for topic in topics()
        for passage in topic["passages"]
        for place, perspective in enumerate(topic["perspectives"])
    }


def _page_gold(workspace: Workspace) -> dict[Pair, bool]:
    """Gold labels of page passages: authors labelled paragraphs, and a passage supports what its paragraphs support."""
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
    """The content paragraphs of a demo page, which are longer than any notice or menu."""
    texts = (" ".join(p.text_content().split()) for p in lxml.html.fromstring(html).iter("p"))
    return [text for text in texts if len(text.split()) >= _PARAGRAPH_WORDS]
