"""Real Lucene indexes, made by Pyserini's indexer, searched and read; skipped where Pyserini is not installed."""

import re
import signal
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from lucene_indexes import corpus_of_rows, lucene_index, needs_pyserini

from berdseye.data.corpora import Corpus, open_corpus
from berdseye.data.demo.content import add_demo_corpus, topics
from berdseye.data.documents import Document
from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.grammar import parse
from berdseye.data.workspace import Workspace
from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lexical.query_likelihood import QueryLikelihood
from berdseye.retrieval.lexical.ranker import bm25
from berdseye.retrieval.lucene.documents import documents_of
from berdseye.retrieval.lucene.index import LuceneIndex, index_folder, open_index
from berdseye.retrieval.lucene.java import in_java
from berdseye.retrieval.lucene.ranker import lucene_ranker
from berdseye.retrieval.passage_collections import StoredCorpus
from berdseye.retrieval.protocol import Ranker, as_queries

pytestmark = needs_pyserini

# Each word is one term to both, and no passage is so long that Lucene would round its length (40 terms or more).
SHORT = [
    {
        "id": f"s{n}",
        "text": " ".join(["cars"] * (n % 5) + ["trams"] * (n % 3) + ["elephants", "walk"] + ["far"] * (n % 7)),
    }
    for n in range(60)
]


def lucene(folder: Path, settings: str = "") -> Ranker:
    return lucene_ranker(parse(f'lucene("{folder}"{settings})')[0])


def contents(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"id": row["id"], "contents": row["text"]} for row in rows]


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Corpus, Path]:
    """A corpus of short passages, the distinct ones of `SHORT`, and the Lucene index of the same."""
    folder = tmp_path_factory.mktemp("short")
    rows = list({row["text"]: row for row in SHORT}.values())
    corpus = corpus_of_rows(Workspace.create(folder / "workspace"), rows)
    return corpus, lucene_index(folder / "lucene", contents(rows))


@pytest.fixture(scope="module")
def encyclopedia(tmp_path_factory: pytest.TempPathFactory) -> tuple[Corpus, Path]:
    """The demo's encyclopedia, and a Lucene index of the titles and texts that Berdseye indexes."""
    workspace = Workspace.create(tmp_path_factory.mktemp("demo") / "workspace")
    add_demo_corpus(workspace, "encyclopedia")
    corpus = open_corpus(workspace, "encyclopedia")
    rows = [{"id": p.source_id, "contents": f'"{p.title}"\n{p.text}'} for batch in corpus.batches() for p in batch]
    return corpus, lucene_index(tmp_path_factory.mktemp("encyclopedia") / "lucene", rows)


@pytest.mark.parametrize("settings", ["", ",k1=1.2,b=0.75", ",b=0"])
def test_scores_and_ranks_are_those_of_our_bm25(short: tuple[Corpus, Path], settings: str) -> None:
    corpus, folder = short
    found = lucene(folder, settings)
    ours = bm25(found.similarity, "porter")
    queries = as_queries(["cars and trams", "elephants far", "cars cars trams", "unheard of", "the"])
    for theirs, own in zip(
        StoredCorpus(corpus).rank(found, queries, 20), StoredCorpus(corpus).rank(ours, queries, 20), strict=True
    ):
        assert len(theirs.ids) == len(own.ids)
        assert np.allclose(theirs.scores, own.scores, rtol=1e-5)
        assert theirs.ids.tolist() == own.ids.tolist()


def test_query_likelihood_prefers_frequent_words(short: tuple[Corpus, Path]) -> None:
    """Lucene's score is the paper's (Zhai and Lafferty, 2001) with one token more in the collection, and never negative."""
    corpus, folder = short
    ranker = lucene(folder, ",scoring=qld,mu=50")
    found = StoredCorpus(corpus).rank(ranker, as_queries(["cars"]), 10)[0]
    index = open_index(folder)
    texts = [row["text"].split() for row in {r["text"]: r for r in SHORT}.values()]
    share = (sum(t.count("cars") for t in texts) + 1) / (sum(map(len, texts)) + 1)
    for passage, score in zip(corpus.passages(found.ids.tolist()), found.scores, strict=True):
        words = passage.text.split()
        expected = np.log1p(words.count("cars") / (50 * share)) + np.log(50 / (len(words) + 50))
        assert score == pytest.approx(max(0.0, expected), rel=1e-3)
    assert index.search(["cars"], 3, QueryLikelihood(50))[0].scores.tolist() == found.scores[:3].tolist()


def test_equal_scores_come_with_the_later_passage_first(workspace: Workspace, tmp_path: Path) -> None:
    rows = [{"id": f"t{n}", "text": f"trams stop here {'abcdefghij'[n % 10]}{n}"} for n in range(200)]
    corpus = corpus_of_rows(workspace, rows)
    folder = lucene_index(tmp_path / "lucene", contents(rows[::-1]))
    found = StoredCorpus(corpus).rank(lucene(folder), as_queries(["trams"]), 5)[0]
    assert found.ids.tolist() == [199, 198, 197, 196, 195]
    assert len(set(found.scores.tolist())) == 1


def test_rankings_are_nearly_those_of_our_bm25(encyclopedia: tuple[Corpus, Path]) -> None:
    """What differs: Lucene rounds lengths of 40 terms and more, and splits texts into words by the rules of Unicode."""
    corpus, folder = encyclopedia
    queries = as_queries([t["question"] for t in topics()])
    theirs = StoredCorpus(corpus).rank(lucene(folder), queries, 10)
    ours = StoredCorpus(corpus).rank(bm25(BM25(), "porter"), queries, 10)
    shared = [len({*a.ids.tolist()} & {*b.ids.tolist()}) / len(b.ids) for a, b in zip(theirs, ours, strict=True)]
    first = [a.ids[0] == b.ids[0] for a, b in zip(theirs, ours, strict=True)]
    assert np.mean(shared) >= 0.97
    assert np.mean(first) >= 0.95


def test_many_queries_are_ranked_as_one_is(encyclopedia: tuple[Corpus, Path]) -> None:
    corpus, folder = encyclopedia
    queries = as_queries([t["question"] for t in topics()])
    ranker = lucene(folder)
    together = StoredCorpus(corpus).rank(ranker, queries, 7)
    for query, ranking in zip(queries, together, strict=True):
        alone = StoredCorpus(corpus).rank(ranker, [query], 7)[0]
        assert ranking.ids.tolist() == alone.ids.tolist()
        assert ranking.scores.tolist() == alone.scores.tolist()
        assert all(a >= b for a, b in pairwise(ranking.scores.tolist()))


def test_its_documents_make_a_corpus_that_it_can_search(
    encyclopedia: tuple[Corpus, Path], workspace: Workspace
) -> None:
    corpus, folder = encyclopedia
    read = list(documents_of(str(folder)))
    passages = [p for batch in corpus.batches() for p in batch]
    assert [(d.source_id, d.title, d.text, d.line, d.whole) for d in read if isinstance(d, Document)] == [
        (p.source_id, p.title, p.text, n, True) for n, p in enumerate(passages, start=1)
    ]
    assert list(documents_of(str(folder), start=5)) == read[5:]
    again = corpus_of_rows(
        workspace, [{"id": d.source_id, "title": d.title, "text": d.text} for d in read if isinstance(d, Document)]
    )
    query = as_queries(["Should cars be banned from city centres?"])
    one, other = (StoredCorpus(c).rank(lucene(folder), query, 10)[0] for c in (corpus, again))
    assert one.ids.tolist() == other.ids.tolist()


def test_contents_are_read_where_nothing_else_is_stored(tmp_path: Path) -> None:
    rows = [{"id": "a", "contents": "Aaron\nA prophet."}, {"id": "b", "contents": "one line"}]
    read = list(documents_of(str(lucene_index(tmp_path / "contents", rows, stored=["Contents"]))))
    assert read == [Document("a", "Aaron", "A prophet.", "", 1, True), Document("b", "", "one line", "", 2, True)]
    with pytest.raises(BadInputError, match="does not store its documents"):
        list(documents_of(str(lucene_index(tmp_path / "slim", rows, stored=[]))))


def test_damage_is_reported_with_the_folder(short: tuple[Corpus, Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in short[1].iterdir():
        content = file.read_bytes()
        (broken / file.name).write_bytes(content[: len(content) // 2] if file.suffix in (".tim", ".cfs") else content)
    with pytest.raises(BadInputError, match=rf"{re.escape(str(broken))}: .*damaged.*Copy") as told:
        LuceneIndex(broken)
    assert "\n" not in str(told.value)


def test_a_question_of_too_many_words_is_reported(short: tuple[Corpus, Path]) -> None:
    with pytest.raises(BadInputError, match="too many words"):
        open_index(short[1]).search([" ".join(f"w{n}" for n in range(2000))], 3, BM25())


def test_versions_name_the_index_and_the_engine(short: tuple[Corpus, Path], tmp_path: Path) -> None:
    rows = contents(SHORT[:2])
    versions = [lucene(f).versions for f in (short[1], short[1], lucene_index(tmp_path / "other", rows))]
    assert versions[0] == versions[1]
    told = [next(iter(v.values())) for v in versions]
    assert told[0] != told[2]
    assert all("anserini 1." in t or "anserini 2." in t for t in told)


def test_prebuilt_names_are_known_and_failed_downloads_are_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean .*wikipedia-dpr-100w"):
        index_folder("wikipedia-dpr-100v")
    monkeypatch.setenv("PYSERINI_CACHE", str(tmp_path))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(UnavailableError, match=r"'wikipedia-dpr-100w-slim' \(1.8 GB\) could not be downloaded"):
        index_folder("wikipedia-dpr-100w-slim")
    said = capsys.readouterr()
    assert said.out == ""
    assert "(1.8 GB)" in said.err


def test_threads_that_end_leave_nothing_in_java(short: tuple[Corpus, Path]) -> None:
    index = open_index(short[1])
    threads = in_java(lambda class_of: class_of("java.lang.Thread"))
    before = threads.activeCount()
    for _ in range(20):
        thread = threading.Thread(target=index.search, args=(["cars"], 3, BM25()))
        thread.start()
        thread.join()
    assert threads.activeCount() == before


def test_python_keeps_its_interrupts_and_its_output(short: tuple[Corpus, Path]) -> None:
    """Java would end the process at Ctrl-C, and log to where answers of the command line stand."""
    script = f"""
import os, signal, sys, time
from pathlib import Path
from berdseye.retrieval.lexical.bm25 import BM25
from berdseye.retrieval.lucene.index import LuceneIndex
LuceneIndex(Path({str(short[1])!r})).search(["cars"], 3, BM25())
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    sys.exit(7)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
