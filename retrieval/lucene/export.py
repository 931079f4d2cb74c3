"""Making a corpus of what a Lucene index stores."""

import json
from pathlib import Path

from berdseye.data.documents import BadRow
from berdseye.data.progress import Progress, silent
from berdseye.retrieval.lucene.documents import documents_of
from berdseye.retrieval.lucene.index import open_index
from berdseye.retrieval.lucene.locating import index_folder


def write_documents(index: str, target: Path, progress: Progress = silent) -> None:
    """Write the documents of an index as JSONL, under their own ids; one without text is left for the reader to tell."""
    total = open_index(index_folder(index)).count
    with target.open("w", encoding="utf-8") as file:
        for done, row in enumerate(documents_of(index), start=1):
            document = (
                {"id": row.where, "text": ""}
                if isinstance(row, BadRow)
                else {"id": row.source_id, "title": row.title, "text": row.text, "url": row.url}
            )
            file.write(json.dumps(document) + "\n")
            if done % 10_000 == 0:
                progress(done, "documents of the index", total)
