"""The report of a construction of DebateQA: its counts by source, documents, points of view and topics beside the paper's."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from berdseye.data.errors import StaleError
from berdseye.evaluation.construction.debateqa.checks import CHECKS, SOURCES
from berdseye.evaluation.construction.debateqa.evidence import DUPLICATES, EVIDENCE
from berdseye.evaluation.construction.debateqa.explanations import EXPLANATIONS, VERIFIED
from berdseye.evaluation.construction.debateqa.views import VIEWS
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Built
from berdseye.evaluation.topics import TOO_FEW, Topic, topics_shown

RELEVANCE = 0.56
"""DebateQA's mean cosine of a question and the chunks of its documents (gte-Qwen2-1.5B-instruct; appendix A)."""
A_QUESTION = 3.7
"""DebateQA's mean number of partial answers of a question."""
_FAR = 2.0
_BY_SOURCE = (SOURCES, DUPLICATES.name, EVIDENCE.name, VIEWS.name, EXPLANATIONS.name, VERIFIED.name)
_SHOWN = 20


class SourceRow(NamedTuple):
    """A source with the number of its rows that each of these steps kept, and the paper's counts before and after duplicates,
    where the source has the name of one of the paper's."""

    source: str
    counts: Mapping[str, int]
    printed: Mapping[str, float]


class Outlier(NamedTuple):
    """A question whose documents are much less similar to it than those of the others."""

    id: str
    question: str
    cosine: float


@dataclass(frozen=True)
class DebateQAReport:
    """What a construction has come to so far, beside its funnel. Parts of steps that are not finished are empty."""

    sources: Sequence[SourceRow]
    documents: Mapping[int, int]
    relevance: float | None
    outliers: Sequence[Outlier]
    partial_answers: Mapping[int, int]
    topics: Sequence[Topic]

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        found = asdict(self)
        for name in ("sources", "outliers", "topics"):
            found[name] = [one._asdict() for one in getattr(self, name)]
        return found

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        lines = ["By source: " + " -> ".join(self.sources[-1].counts)]
        for row in self.sources:
            counts = " -> ".join(f"{count:,}{_beside(row.printed.get(step))}" for step, count in row.counts.items())
            lines.append(f"  {row.source}: {counts}")
        if self.documents:
            lines.append(f"Documents of a question: {_distribution(self.documents)}")
        if self.relevance is not None:
            lines.append(
                f"Mean cosine of a question and the chunks of its documents: {self.relevance:.2f}{_beside(RELEVANCE)} with "
                f"another encoder; {len(self.outliers)} questions are more than {_FAR:g} standard deviations below it"
            )
            lines += [f"  {one.id}: {one.question} ({one.cosine:.2f})" for one in self.outliers[:_SHOWN]]
        if self.partial_answers:
            total = sum(number * times for number, times in self.partial_answers.items())
            mean = total / sum(self.partial_answers.values())
            lines.append(
                f"Partial answers of a question: mean {mean:.1f}{_beside(A_QUESTION)}; {_distribution(self.partial_answers)}"
            )
        if self.topics:
            lines.append(f"Largest topics: {'; '.join(f'{one.words} ({one.questions})' for one in self.topics)}")
        elif self.partial_answers:
            lines.append(f"Largest topics: {TOO_FEW}")
        lines.append("Checks by people")
        lines += [f"  {check.name}: {check.printed}" for check in CHECKS if check.printed]
        return lines


def debateqa_report(built: Built) -> DebateQAReport:
    """Return the report of a construction, whatever steps are finished."""
    kept = {name: rows for name in _BY_SOURCE if (rows := _finished(built, name)) is not None}
    questions, found = kept.get(VIEWS.name, []), kept.get(EVIDENCE.name)
    cosines = [float(row.fields["cosine"]) for row in found or []]
    limit = fmean(cosines) - _FAR * pstdev(cosines) if cosines else 0.0
    outliers = [
        Outlier(row.id, str(row.fields["question"]), float(row.fields["cosine"]))
        for row in found or []
        if row.fields["cosine"] < limit
    ]
    last = kept.get(VERIFIED.name, kept.get(EXPLANATIONS.name, []))
    answers = Counter(str(row.fields["question_id"]) for row in last)
    sizes = Counter(answers[row.id] for row in questions) if last else Counter()
    documents = Counter(
        len(row.fields["documents"]) for row in (built.rows(EVIDENCE.name) if found is not None else [])
    )
    return DebateQAReport(
        _by_source(list(built.working().sources), kept),
        dict(sorted(documents.items())),
        fmean(cosines) if cosines else None,
        sorted(outliers, key=lambda one: (one.cosine, one.id)),
        dict(sorted(sizes.items())),
        topics_shown([str(row.fields["question"]) for row in questions], seed=int(built.settings["seed"])),
    )


def report_lines(built: Built) -> list[str]:
    """Return the report of a construction as lines of text."""
    return debateqa_report(built).lines()


def _finished(built: Built, step: str) -> list[Row] | None:
    try:
        return built.kept(step)
    except StaleError:
        return None


def _by_source(sources: Sequence[str], kept: Mapping[str, Sequence[Row]]) -> list[SourceRow]:
    from berdseye.evaluation.published.debateqa import printed_sources, source_name  # reads tables with pandas

    counts = {name: Counter(str(row.fields["source"]) for row in rows) for name, rows in kept.items()}
    printed = printed_sources()
    rows = []
    for source in [*sources, "total"]:
        of_source = {name: by.total() if source == "total" else by[source] for name, by in counts.items()}
        beside: Mapping[str, float] = {}
        if (paper := printed.get(source_name(source))) is not None:
            beside = {SOURCES: paper.collected} | ({} if paper.kept is None else {DUPLICATES.name: paper.kept})
        rows.append(SourceRow(source, of_source, beside))
    return rows


def _beside(printed: float | None) -> str:
    return "" if printed is None else f" (DebateQA: {printed:,.10g})"


def _distribution(counts: Mapping[int, int]) -> str:
    return ", ".join(f"{number}: {times:,}" for number, times in sorted(counts.items()))
