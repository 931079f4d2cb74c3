"""Sizes, lengths, sources and base rates of data sets and corpora, beside the figures that the papers print.

Corpora are aggregated in DuckDB, file by file on disk: memory depends on the number of different lengths and hosts, not on the
number of passages.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import duckdb

from berdseye.data.corpora import open_corpus
from berdseye.data.corpora.corpus import list_parts
from berdseye.data.corpora.manifest import corpus_files
from berdseye.data.datasets.stored import GOLD, load_dataset
from berdseye.data.labels import LabelStore
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.published import published
from berdseye.evaluation.published.berds import Split, paper_corpora, paper_dataset
from berdseye.evaluation.published.debateqa import printed_sources, source_name
from berdseye.evaluation.topics import TOO_FEW, topics_shown

Unit = Literal["words", "tokens"]
SOURCES = 10
"""The number of sources that a description of a corpus lists."""
_PATTERNS: dict[Unit, str] = {"words": r"\S+", "tokens": r"[\p{L}\p{M}\p{N}_]+|[^\p{L}\p{M}\p{N}_\s]"}
_TOKENS = re.compile(r"\w+|[^\w\s]")
_BERDS_SPLITS: tuple[Split, ...] = ("dev", "test")
_PIR_NAMES = {"pir-story": "storyanalogy", "pir-exfever": "ex-fever"}


class Fact(NamedTuple):
    """One figure: what it is, ours (None: unknown, as `note` or the absence of such questions says), and the paper's with its
    place (None and empty where no paper prints it)."""

    fact: str
    value: float | None
    paper: float | None = None
    place: str = ""
    note: str = ""


def describe_dataset(workspace: Workspace, name: str) -> list[Fact]:
    """Return the figures of a data set or of a version of it; raises `UnknownNameError`.

    Words are separated by white space. Tokens are runs of letters and digits, and single other characters, which is near to the
    NLTK tokens of BERDS (table 1) but not the same. BERDS prints means of both splits together. Base rates are shares of the
    gold-labelled pairs of the data set's perspectives. The source of a question is what its id names before a slash, as in data
    sets that were constructed from several files. Topics are clusters of words (`evaluation/topics.py`), of at least 24
    questions.
    """
    questions = load_dataset(workspace, name)
    perspectives = [p for q in questions for p in q.perspectives]
    texts = [p.text for p in perspectives]
    printed = _printed(name, len(questions))
    facts = [("questions", float(len(questions))), ("perspectives", float(len(perspectives)))]
    if questions:
        facts += _lengths("question", [q.text for q in questions])
        facts.append(("perspectives per question, mean", len(perspectives) / len(questions)))
    counts = Counter(len(q.perspectives) for q in questions)
    facts += [(f"questions with {n} perspectives", float(counts[n])) for n in sorted(counts)]
    if texts:
        facts += _lengths("perspective", texts)
    stances = Counter(p.stance or "no stance" for p in perspectives)
    facts += [(f"perspectives: {stance}", float(stances[stance])) for stance in sorted(stances)]
    sources = _sources(questions)
    gold = (
        [probability for _, probability in LabelStore(workspace).of_perspectives(GOLD, texts).values()] if texts else []
    )
    base = []
    if gold:
        supporting = sum(probability >= 0.5 for probability in gold)
        base = [("gold-labelled pairs", float(len(gold))), ("base rate of gold labels", supporting / len(gold))]
    return [
        *(Fact(fact, value, *printed.get(fact, (None, ""))) for fact, value in facts),
        *_beside_debateqa(sources, always=name.startswith("debateqa")),
        *(_topics(questions) if questions else []),
        *(Fact(fact, value) for fact, value in base),
    ]


def describe_corpus(workspace: Workspace, name: str) -> list[Fact]:
    """Return the figures of a corpus, with its most frequent hosts of URLs; raises `UnknownNameError`, `DamagedError`.

    A corpus of the web has no passages of its own, and so no lengths.
    """
    corpus = open_corpus(workspace, name)
    manifest = corpus.manifest
    unit = "passages" if manifest.kind == "passages" else "pages"
    known = paper_corpora({name: manifest.count if manifest.kind == "passages" else None})
    row = _row("berds_corpora", "corpus", name) if name in known else {}
    size = (row["passages"], "BERDS, table 2") if row else (None, "")
    documents = (row["documents"], "BERDS, table 2") if row else (None, "")
    facts = [Fact(unit, float(manifest.count), *size), Fact("documents", float(manifest.documents), *documents)]
    files = [str(part) for part in list_parts(corpus.folder)[0]]
    if manifest.kind == "web" or not files:
        return facts
    corpus_files(corpus.folder).check()
    try:
        with duckdb.connect() as connection:
            connection.execute("SET memory_limit = '1GB'")
            for length, pattern in _PATTERNS.items():
                rows = connection.execute(
                    "SELECT len(regexp_extract_all(text, $pattern)) AS n, count(*) FROM read_parquet($files) "
                    "GROUP BY n ORDER BY n",
                    {"files": files, "pattern": pattern},
                ).fetchall()
                facts += [Fact(*one) for one in _spread(f"{length} per {unit[:-1]}", dict(rows))]
            hosts = connection.execute(
                "SELECT regexp_extract(url, '^[a-z]+://([^/?#]+)', 1) AS host, count(*) AS n FROM read_parquet($files) "
                "GROUP BY host ORDER BY n DESC, host LIMIT $most",
                {"files": files, "most": SOURCES},
            ).fetchall()
    except duckdb.Error as error:
        raise corpus_files(corpus.folder).unreadable(corpus.folder, error) from error
    return facts + [Fact(f"{unit} from {host or 'no web address'}", float(n)) for host, n in hosts]


def _sources(questions: Sequence[Question]) -> list[tuple[str, float]]:
    """The questions of each source, for a data set all of whose ids name one."""
    named = [question.id.partition("/") for question in questions]
    if not named or not all(slash for _, slash, _ in named):
        return []
    counts = Counter(source for source, _, _ in named)
    return [(f"questions from {source}", float(counts[source])) for source in sorted(counts)]


def _beside_debateqa(sources: Sequence[tuple[str, float]], *, always: bool) -> list[Fact]:
    """Our sources, each beside the paper's of that name, and then the paper's other ones. Unless `always`, ours are alone if none
    has the name of one of the paper's."""
    printed = {
        f"questions from {name}": Fact(
            f"questions from {name}",
            None,
            paper.collected if paper.kept is None else paper.kept,
            f"DebateQA, table {paper.table}",
            "the paper's number includes duplicates" if paper.kept is None else "",
        )
        for name, paper in printed_sources().items()
        if name != "total"
    }
    if not always and not any(source_name(fact) in printed for fact, _ in sources):
        return [Fact(*one) for one in sources]
    rows = []
    for fact, value in sources:
        beside = printed.pop(source_name(fact), None)
        rows.append(Fact(fact, value) if beside is None else beside._replace(fact=fact, value=value))
    return rows + list(printed.values())


def _topics(questions: Sequence[Question]) -> list[Fact]:
    topics = topics_shown([question.text for question in questions])
    shown = [Fact(f"questions about {topic.words}", float(topic.questions)) for topic in topics]
    return shown or [Fact("topics", None, note=TOO_FEW)]


def _lengths(what: str, texts: list[str]) -> list[tuple[str, float]]:
    words = _spread(f"words per {what}", Counter(len(text.split()) for text in texts))
    return words + _spread(f"tokens per {what}", Counter(len(_TOKENS.findall(text)) for text in texts))


def _spread(what: str, counts: Mapping[int, int]) -> list[tuple[str, float]]:
    """The mean, the median (the lower of two) and the greatest of lengths that occur `counts` times."""
    total = sum(counts.values())
    passed, median = 0, 0
    for length in sorted(counts):
        passed += counts[length]
        if 2 * passed >= total:
            median = length
            break
    mean = sum(length * count for length, count in counts.items()) / total
    return [(f"{what}, mean", mean), (f"{what}, median", float(median)), (f"{what}, max", float(max(counts)))]


def _printed(name: str, questions: int) -> dict[str, tuple[float | None, str]]:
    """The paper's figures of a published data set, by the name of our fact."""
    for split in _BERDS_SPLITS:
        paper = paper_dataset(name, questions, split)
        if paper:
            row = _row("berds_dataset", "dataset", paper)
            figures = {
                "questions": row[split],
                "perspectives per question, mean": row["avg_perspectives"],
                "tokens per perspective, mean": row["avg_words_per_perspective"],
            }
            return {fact: (value, "BERDS, table 1") for fact, value in figures.items()}
    row = (
        _row("pir_datasets", "task", _PIR_NAMES.get(name, name.removeprefix("pir-"))) if name.startswith("pir-") else {}
    )
    if row:
        figures = {"questions": row["queries"], "words per question, mean": row["query_len"]}
        return {f: (value, "PIR, table 1") for f, value in figures.items() if value == value}
    if name == "dmerit":
        return {"questions": (_row("dmerit_distribution", "members", "all")["queries"], "D-MERIT, table 2")}
    if name.startswith("debateqa"):
        return {"perspectives per question, mean": (3.7, "DebateQA, section 3")}
    return {}


def _row(table: str, key: str, value: str) -> dict[str, float]:
    """The numbers of the row of a published table whose `key` is `value`, NaN where none is printed; empty without such a row."""
    found = [row for row in published(table).to_dict("records") if row[key] == value]
    return {str(name): float(cell) for row in found for name, cell in row.items() if isinstance(cell, (int, float))}
