"""PIR's six tasks, from the Hub, where the authors filtered them once more: counts differ from the paper's Table 1.

Revisions are those that a public evaluation of these data sets pins. As local copies the demo's files serve too.
"""

from functools import partial
from pathlib import Path

from huggingface_hub import hf_hub_url

from berdseye.data.dataset_formats.pir import questions_of
from berdseye.data.pir_catalogue import TASKS, PirFacts
from berdseye.data.pir_tasks import read_pir_task
from berdseye.data.published_sets.part import Part, Read, RemoteFile, told_count

_FILES = ("queries.jsonl", "corpus.jsonl", "qrels/test.jsonl")


def _read(folder: Path, facts: PirFacts) -> Read:
    demo = folder / f"{facts.name}.json"
    task = read_pir_task(demo if demo.exists() else folder, facts.name)
    queries = told_count(len(task.queries), facts.queries, "queries")
    passages = told_count(len(task.passages), facts.passages, "passages")
    left_out = f"; {task.left_out} queries without a relevant passage left out" if task.left_out else ""
    return Read(questions_of(task), f"{queries}; {passages}{left_out}")


def pir_parts() -> dict[str, tuple[Part, ...]]:
    """A task each."""
    return {f"pir-{facts.name}": (_part(facts),) for facts in TASKS.values()}


def _part(facts: PirFacts) -> Part:
    folders = (facts.hub.rpartition("/")[2], f"pir-{facts.name}", facts.name)
    files = tuple(
        RemoteFile(
            name,
            hf_hub_url(facts.hub, name, repo_type="dataset", revision=facts.revision),
            also=tuple(f"{folder}/{name}" for folder in folders),
        )
        for name in _FILES
    )
    demo = RemoteFile(f"{facts.name}.json", "", also=("demo_pir_dataset.json",))
    return Part(f"pir-{facts.name}", files, partial(_read, facts=facts), local=(demo,))
