"""The queue of the Annotate page outside batches: the pairs of chosen runs, in order, each open to everyone.

An annotator gets the first pair that they have neither judged nor skipped.
"""

from collections.abc import Mapping, Sequence

from berdseye.annotation.judgments.log import Annotator, Judgments, PairRecord
from berdseye.annotation.judgments.recorded import (
    NO_DETAILS,
    JudgmentDetails,
    RecordedJudgment,
    judgment_fields,
    last_undone,
    skip_fields,
)
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.runs.pairs import run_pairs
from berdseye.data.runs.stored import load_run
from berdseye.data.workspace import Workspace


def pairs_of_runs(workspace: Workspace, runs: Sequence[str], k: int) -> dict[str, PairRecord]:
    """Return the pairs of the top k of each run, by key, each once, in the order of the questions and then of the ranks."""
    records: dict[tuple[str, int, int, int], dict[str, PairRecord]] = {}
    for name in runs:
        run = load_run(workspace, name)
        questions = load_dataset(workspace, run.manifest.dataset)
        top_pairs = run_pairs(workspace, run, questions, k)
        for (number, rank, place), pair in zip(top_pairs.places.tolist(), top_pairs.pairs, strict=True):
            question, passage = questions[number], top_pairs.passages[int(run.ids[number, rank])]
            record = PairRecord.of(question, question.perspectives[place], run.manifest.corpus, passage)
            records.setdefault((run.manifest.dataset, number, rank, place), {})[pair.key] = record
    ordered: dict[str, PairRecord] = {}
    for place in sorted(records):
        for key, record in records[place].items():
            ordered.setdefault(key, record)
    return ordered


class RunsQueue:
    """A queue of pairs by key, judged blind; it reserves nothing, and serves each pair to everyone, however many judged it."""

    def __init__(self, judgments: Judgments, pairs: Mapping[str, PairRecord]) -> None:
        self.judgments, self._pairs = judgments, pairs

    def next(self, person: Annotator) -> str | None:
        """Return the pair whose judgment this person has just undone, otherwise the first one not judged or skipped by them."""
        judged = self.judgments.judged_pairs(person)
        undone = last_undone(self.judgments, person)
        if undone is not None and undone.pair in self._pairs and undone.pair not in judged:
            return undone.pair
        return next((key for key in self._pairs if key not in judged), None)

    def after(self, person: Annotator, pair: str) -> str | None:
        """Return the pair that would come next if this person judged or skipped `pair` now."""
        judged = self.judgments.judged_pairs(person)
        return next((key for key in self._pairs if key not in judged and key != pair), None)

    def give(
        self,
        person: Annotator,
        pair: str,
        verdict: str,
        details: JudgmentDetails = NO_DETAILS,
        *,
        uid: str | None = None,
    ) -> RecordedJudgment:
        """Record a judgment; one `uid` is recorded once."""
        fields = judgment_fields("judge", verdict, self.record(pair).passage, details)
        self.judgments.add_pairs([self.record(pair)])
        return RecordedJudgment(self.judgments.append(person, pair, **fields, shown=False, uid=uid))

    def skip(self, person: Annotator, pair: str, details: JudgmentDetails = NO_DETAILS) -> RecordedJudgment:
        """Skip a pair for good."""
        self.judgments.add_pairs([self.record(pair)])
        return RecordedJudgment(self.judgments.append(person, pair, **skip_fields(details)))

    def undo(self, person: Annotator) -> str | None:
        """Take back this person's last action; its pair is next."""
        return self.judgments.undo(person)

    def leave(self, person: Annotator) -> None:
        """Do nothing: this queue has no reservations to release."""

    def record(self, pair: str) -> PairRecord:
        """Return the pair with its texts."""
        return self._pairs[pair]

    def done(self, person: Annotator) -> tuple[int, int]:
        """Return how many of the pairs this person has judged or skipped, and how many there are."""
        judged = self.judgments.judged_pairs(person)
        return sum(key in judged for key in self._pairs), len(self._pairs)
