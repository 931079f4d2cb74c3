"""Small corpora for the tests of retrieval."""

import json
from collections.abc import Sequence
from pathlib import Path

from berdseye.data.corpora import Corpus, Kind, add_corpus, open_corpus
from berdseye.data.workspace import Workspace

CITY = (
    "Cars poison the air of the city and should be banned from its centre.",
    "Shops in the centre lose their customers when cars are banned.",
    "Trams carry more people than cars on the same street.",
    "The zoo keeps elephants, tigers and a very old tortoise.",
    "Elephants in the wild walk thirty kilometres a day.",
    "Homework teaches children to work on their own.",
)


def corpus_of(workspace: Workspace, texts: Sequence[str], *, kind: Kind = "passages", name: str = "c") -> Corpus:
    """A corpus of these texts, in their order, in place of an older one."""
    source = Path(workspace.folder) / f"{name}.jsonl"
    source.write_text("".join(json.dumps({"id": f"d{n}", "text": t}) + "\n" for n, t in enumerate(texts)))
    add_corpus(workspace, name, source, kind=kind, replace=True)
    return open_corpus(workspace, name)
