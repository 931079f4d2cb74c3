"""What an annotator judges next: the pairs of chosen runs that this person has neither judged nor skipped."""

from collections.abc import Sequence

from berdseye.annotation.judgments import PairRecord
from berdseye.data.datasets import load_dataset
from berdseye.data.run_pairs import run_pairs
from berdseye.data.runs import load_run
from berdseye.data.workspace import Workspace


def pairs_of_runs(workspace: Workspace, runs: Sequence[str], k: int) -> dict[str, PairRecord]:
    """Pairs of the top k of each run, by key, each once, question by question and then by rank."""
    found: dict[tuple[str, int, int, int], dict[str, PairRecord]] = {}
    for name in runs:
        run = load_run(workspace, name)
        questions = load_dataset(workspace, run.manifest.dataset)
        held = run_pairs(workspace, run, questions, k)
        for (number, rank, place), pair in zip(held.places.tolist(), held.pairs, strict=True):
            question, passage = questions[number], held.passages[int(run.ids[number, rank])]
            record = PairRecord.of(question, question.perspectives[place], run.manifest.corpus, passage)
            found.setdefault((run.manifest.dataset, number, rank, place), {})[pair.key] = record
    ordered: dict[str, PairRecord] = {}
    for place in sorted(found):
        for key, record in found[place].items():
            ordered.setdefault(key, record)
    return ordered
