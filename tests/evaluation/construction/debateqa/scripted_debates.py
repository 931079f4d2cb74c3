"""A construction of DebateQA from released debates, and a scripted model that reads the documents which it is shown."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

from berdseye.data.corpora import add_corpus
from berdseye.data.datasets.debates import debate_documents
from berdseye.data.texts.chunkers import split_sentences
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.kinds import kind_of
from berdseye.evaluation.construction.opening import begin
from berdseye.evaluation.construction.stored import Construction

CORPUS = "debates"
DEBATES = 150
_TAG = re.compile(r"<([\w -]+)>\n(.*?)\n</\1>", re.DOTALL)
_DOCUMENT = re.compile(r"\[Document (\d+)\] (.*?)(?=\n\n\[Document|\Z)", re.DOTALL)


def debates(shared_data: Path) -> list[dict[str, Any]]:
    """Debates as they were released."""
    found: list[dict[str, Any]] = json.loads((shared_data / "perspectrum" / "debatewise.json").read_text("utf-8"))
    return found[:DEBATES]


def write_files(folder: Path, shared_data: Path) -> None:
    """Write the arguments of debates as documents, and their claims as questions of two sources: some claims are in both, and
    some rows cannot be read."""
    folder.mkdir()
    pages = list(debate_documents(debates(shared_data), "debatewise"))
    other = {"id": "shop", "title": "Buy now", "text": "Should we ban it? We sell it.", "url": "https://shop.com/ban"}
    (folder / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in [*pages, other]), "utf-8")
    claims = [debate["claim_title"] for debate in debates(shared_data) if debate["claim_title"]]
    rows = [json.dumps({"id": f"d{n:02}", "question": claim}) for n, claim in enumerate(claims[:16])]
    rows += ['{"question": ', json.dumps({"question": "  "}), json.dumps({"id": "d00", "question": "Again?"})]
    (folder / "delphi.jsonl").write_text("\n".join(rows), "utf-8")
    with (folder / "web.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "question"])
        table.writerows([f"w{n:02}", claim] for n, claim in enumerate(claims[12:24]))
        table.writerows([["w90", claims[2].upper()], ["w91", ""], ["w92", "Qqxz zzkw vvrk?"]])
        table.writerows([["w93", f"Is it so: {claims[4]}?"], ["w94", " ".join(claims[5].split()[:4])]])


def debate_workspace(folder: Path, pages: Path) -> Workspace:
    """Create a workspace with the documents as a corpus."""
    workspace = Workspace.create(folder)
    add_corpus(workspace, CORPUS, pages)
    return workspace


def copied(workspace: Workspace, folder: Path) -> Workspace:
    """A copy of a workspace that a test may change."""
    shutil.copytree(workspace.folder, folder)
    return Workspace.open(folder)


def begun_debateqa(workspace: Workspace, files: Path, **settings: Any) -> Construction:
    sources = {"delphi": files / "delphi.jsonl", "web": files / "web.csv"}
    chosen = {"model": "api(scripted)", "corpora": CORPUS, "test": 6, **settings}
    return begin(workspace, kind_of("debateqa"), "debate", sources, chosen, {}, made_by="ada")


def answer(asked: str) -> str:
    """Queries from the words of a question, points of view from the first sentences of documents, and an explanation from the
    sentences after them."""
    slots = dict(_TAG.findall(asked))
    documents = {int(number): text for number, text in _DOCUMENT.findall(slots.get("documents", ""))}
    if "search queries" in asked:
        words = slots["question"].rstrip("?").split()
        return f"1. {' '.join(words)}\n2. {' '.join(words[::2])}\n3. {' '.join(words[::-1])}"
    if "List the points of view" in asked:
        lines = [
            f"Point-of-View {place}: {' '.join(split_sentences(text)[0].split()[:40])} [Document {number}]"
            for place, (number, text) in enumerate(documents.items(), start=1)
        ]
        return "\n".join(
            [*lines, "Point-of-View 8: Nothing supports this. [Document 77]", "Point-of-View 9: Nor this."]
        )
    sentences = [sentence for text in documents.values() for sentence in split_sentences(text)]
    return " ".join(f"Supporters argue as follows. {' '.join(sentences)}".split()[:120])
