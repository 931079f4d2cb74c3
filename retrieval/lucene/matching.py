"""A Lucene index and the corpus of its passages, matched by the documents' own ids."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np

from berdseye.data.corpora import Corpus
from berdseye.data.documents import BadRow
from berdseye.data.errors import BadInputError
from berdseye.data.records import Ranking
from berdseye.retrieval.lucene.docids import DocidIndexer, Docids
from berdseye.retrieval.lucene.documents import document_of
from berdseye.retrieval.lucene.index import Hits, LuceneIndex
from berdseye.retrieval.passage_collections import Stored, unchanged

_FITTING = "Fitting is one made of the same file, or of the index: `berdseye corpus add NAME --lucene INDEX`."
_ALIKE = 0.5


@dataclass(frozen=True)
class Matched:
    """An index, a corpus, and the passages that documents are."""

    index: LuceneIndex
    corpus: Corpus
    docids: Docids

    def ranking(self, hits: Hits) -> Ranking:
        """The passages that were found, each once; raises `BadInputError` for a document that is none."""
        ids = self.docids.passages(hits.docids)
        missing = np.flatnonzero(ids < 0)
        if len(missing) and not self._left_out():
            raise self._lacks(hits.docids[missing[0]])
        held = np.flatnonzero(ids >= 0)
        held = held[np.sort(np.unique(ids[held], return_index=True)[1])]
        return Ranking(ids[held], hits.scores[held])

    def compare(self) -> None:
        """Raises `BadInputError` where a document in the midst of the index, if it is stored, is not the passage of its id.

        Ids that only count the documents would else match, and rank the wrong passages, if one count began at another
        number.
        """
        stored = next(islice(self.index.stored(self.index.count // 2), 1), None)
        document = None if stored is None or not (stored.raw or stored.contents) else document_of(stored, "")
        if document is None or isinstance(document, BadRow):
            return
        number = int(self.docids.passages([document.source_id])[0])
        if number < 0:
            return
        passage = self.corpus.passages([number])[0]
        theirs, ours = (set(f"{x.title} {x.text}".lower().split()) for x in (document, passage))
        if len(theirs & ours) < _ALIKE * min(len(theirs), len(ours)):
            raise BadInputError(
                f"Document '{document.source_id}' of the Lucene index is another text than the passage of this id in corpus "
                f"'{self.corpus.name}'.",
                where=self.index.folder,
                hint=_FITTING,
            )

    def _left_out(self) -> bool:
        """Whether the corpus lacks just as many of the index's documents as were left out when it was made, being
        duplicates of others or unreadable."""
        manifest = self.corpus.manifest
        merged = manifest.duplicates_merged + manifest.near_duplicates
        return 0 <= self.index.count - manifest.count - merged <= manifest.left_out and merged + manifest.left_out > 0

    def _lacks(self, docid: str) -> BadInputError:
        cut = int(self.docids.passages([f"{docid}#0"])[0]) >= 0
        return BadInputError(
            f"Corpus '{self.corpus.name}' ({self.corpus.manifest.count:,} passages) lacks document '{docid}' of the Lucene "
            f"index ({self.index.count:,} documents).",
            where=self.index.folder,
            hint="Its documents were cut into passages; add it again with --chunker whole." if cut else _FITTING,
        )


@lru_cache(maxsize=16)
def matched(index: LuceneIndex, folder: Path, corpus_hash: str) -> Matched:
    """An index and the corpus in a folder; raises `BadInputError` where their texts are seen to differ."""
    corpus = unchanged(folder, corpus_hash)
    both = Matched(index, corpus, Stored(corpus).index(DocidIndexer(folder)))
    both.compare()
    return both
