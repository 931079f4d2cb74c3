"""The published data sets that `berdseye dataset fetch` knows: their files, addresses, hashes and published counts.

A new data set needs a function that returns its parts, and a line in `SETS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from huggingface_hub import hf_hub_url

from berdseye.data.datasets.evidence_sets import RELEASED, read_evidence_set
from berdseye.data.datasets.layouts import Imported, read_dataset
from berdseye.data.datasets.layouts.perspectrum import read_perspectrum
from berdseye.data.datasets.layouts.pir import questions_of
from berdseye.data.datasets.pir_reformat import CLAIMS, SPLITS, claims_of
from berdseye.data.datasets.pir_tasks import TASKS, PirFacts, read_pir_task
from berdseye.data.errors import UnknownNameError
from berdseye.data.records import Question

_REPOSITORY = (
    "https://raw.githubusercontent.com/timchen0618/berds/63a39ef638b9a7851700961394c32c8d9a44d8a9/query_exp/data"
)
_HUB = "default/test/0000.parquet"
_SOURCES = (
    # short name, Hub name, released file, dev and test questions, sha256 of the dev file
    ("arguana", "Arguana", "arguana_generated", 250, 750, "b07ab94dc56d9602fb100e91c25e6eb73b3bbff7a46eb35518cf913edf413431"),
    ("kialo", "Kialo", "kialo", 258, 774, "ea86c20023739cd9b99af2b0d8f46045661ad215d1e6aca083bc3a90df1ae58e"),
    ("opinionqa", "OpinionQA", "opinionqa", 294, 882, "c82dfda7ebe3d79fb773f74043c111256c0283c565d3946e6919e595504ebd73"),
)  # fmt: skip
_DEBATEQA_HOME = "https://raw.githubusercontent.com/pillowsofwind/DebateQA/main/dataset"
_SPLITS = {"test": 1_000, "dev": 1_941}
_DMERIT_HOME = "https://D-MERIT.github.io"
_PERSPECTRUM_HOME = "https://raw.githubusercontent.com/CogComp/perspectrum"
_CLAIMS_IN = {"train": 541, "dev": 139, "test": 227}
_PIR_FILES = ("queries.jsonl", "corpus.jsonl", "qrels/test.jsonl")


class RemoteFile(NamedTuple):
    """A file of a published data set: its path in the data set's folder, and its public address.

    `sha256` is empty if the hash is not known; the first fetch then records it. `also` are other names of local copies.
    """

    path: str
    url: str
    sha256: str = ""
    also: tuple[str, ...] = ()


class Read(NamedTuple):
    """The imported questions of a part, and a text that compares their counts with the published ones."""

    imported: Imported
    counts: str


@dataclass(frozen=True)
class PublishedPart:
    """A part of a published data set, which becomes one data set of the workspace; `read` takes the folder of its files.

    `local` is another form in which copies of the files exist, if there is one. `by_hand` is the address of a part that must
    be downloaded manually; such a part has no `files` and is read from the folder that the user passes.
    """

    dataset: str
    files: tuple[RemoteFile, ...]
    read: Callable[[Path], Read]
    local: tuple[RemoteFile, ...] = ()
    by_hand: str = ""


def compare_count(count: int, published: int, what: str) -> str:
    """A text that compares a count with the published one."""
    if count == published:
        return f"{count:,} {what}, as published"
    return f"{count:,} {what} (published: {published:,})"


def _read_berds(folder: Path, names: tuple[str, ...], questions: int) -> Read:
    imported = read_dataset(next((folder / name for name in names if (folder / name).exists()), folder / names[0]))
    return Read(imported, compare_count(len(imported.questions), questions, "questions"))


def berds_parts() -> dict[str, tuple[PublishedPart, ...]]:
    """BERDS: dev questions with generated perspectives from its repository, and test questions from the Hub.

    The Hub's own file names were not accessible; every public data set of the Hub is also available as Parquet under names
    that follow from its splits, and public loaders name these splits (test and validation) and the fields. The counts are
    those of Table 1.
    """
    sets: dict[str, tuple[PublishedPart, ...]] = {}
    for name, hub, released, dev, test, sha256 in _SOURCES:
        url = hf_hub_url(f"timchen0618/{hub}", _HUB, repo_type="dataset", revision="refs/convert/parquet")
        dev_file = RemoteFile(
            f"{released}_query_exp.dev.jsonl",
            f"{_REPOSITORY}/{released}_query_exp.dev.jsonl",
            sha256,
            (f"{released}.jsonl",),
        )
        test_file, rows = RemoteFile(f"{name}_test.parquet", url), RemoteFile(f"{name}_test.jsonl", "")
        test_paths = (test_file.path, rows.path)
        sets[f"berds-{name}"] = (
            PublishedPart(
                f"berds-{name}-dev", (dev_file,), partial(_read_berds, names=(dev_file.path,), questions=dev)
            ),
            PublishedPart(
                f"berds-{name}-test",
                (test_file,),
                partial(_read_berds, names=test_paths, questions=test),
                local=(rows,),
            ),
        )
    return sets


def _read_debateqa(folder: Path, split: str) -> Read:
    imported = read_dataset(folder / f"{split}.jsonl")
    answers = sum(len(q.perspectives) for q in imported.questions)
    questions = compare_count(len(imported.questions), _SPLITS[split], "questions")
    return Read(imported, f"{questions}; {answers:,} partial answers")


def debateqa_parts() -> dict[str, tuple[PublishedPart, ...]]:
    """DebateQA: test and dev questions with partial answers, from its repository (1,000 and 1,941, says its README)."""
    return {
        "debateqa": tuple(
            PublishedPart(
                f"debateqa-{split}",
                (RemoteFile(f"{split}.jsonl", f"{_DEBATEQA_HOME}/{split}.jsonl", also=(f"debateqa_{split}.jsonl",)),),
                partial(_read_debateqa, split=split),
            )
            for split in _SPLITS
        )
    }


def _read_dmerit(folder: Path) -> Read:
    evidence = read_evidence_set(folder)
    counts = (
        compare_count(len(evidence.queries), RELEASED.queries, "queries"),
        compare_count(sum(len(q.relevant) for q in evidence.queries), RELEASED.relevant, "relevant passages"),
        compare_count(len(evidence.passages), RELEASED.passages, "passages"),
        *evidence.notes,
    )
    return Read(Imported("D-MERIT", [Question(q.id, "", q.text) for q in evidence.queries]), "; ".join(counts))


def dmerit_parts() -> dict[str, tuple[PublishedPart, ...]]:
    """D-MERIT: its queries as questions without perspectives, from a folder that the user has downloaded.

    `study dmerit` reads the rest of the release from that folder.
    """
    return {"dmerit": (PublishedPart("dmerit", (), _read_dmerit, by_hand=_DMERIT_HOME),)}


_PERSPECTRUM_FILES = tuple(
    RemoteFile(name, f"{_PERSPECTRUM_HOME}/{commit}/data/dataset/{name}", sha256)
    for name, commit, sha256 in (
        (
            CLAIMS,
            "0a8b13c1e4c78a07cc618df6a46f3153e7e3f40d",
            "39d0391d26ebe21efb1cc3162abcc3c4212d2eadfb07514129c3015d6f6ae1f1",
        ),
        (
            "perspective_pool_v1.0.json",
            "317ae35bdb09718024735d40eee54689d07d2b49",
            "d4d4e78c4777ea971d26546a8819aa9e02c5a68ffff45e10b40ca0cb91b43ae4",
        ),
        (
            SPLITS,
            "317ae35bdb09718024735d40eee54689d07d2b49",
            "5ba5296f6e5956c44a2fd014b15a3f7c10b9a253451162932acaf217f20cd7da",
        ),
    )
)


def _read_perspectrum(folder: Path, split: str) -> Read:
    imported = read_perspectrum(claims_of(folder / CLAIMS, split), folder / CLAIMS)
    return Read(imported, compare_count(len(imported.questions), _CLAIMS_IN[split], "claims"))


def perspectrum_parts() -> dict[str, tuple[PublishedPart, ...]]:
    """Perspectrum: 907 claims in three splits, one data set per split, from its repository (Chen et al., 2019)."""
    return {
        "perspectrum": tuple(
            PublishedPart(f"perspectrum-{split}", _PERSPECTRUM_FILES, partial(_read_perspectrum, split=split))
            for split in _CLAIMS_IN
        )
    }


def _read_pir(folder: Path, facts: PirFacts) -> Read:
    demo = folder / f"{facts.name}.json"
    task = read_pir_task(demo if demo.exists() else folder, facts.name)
    queries = compare_count(len(task.queries), facts.queries, "queries")
    passages = compare_count(len(task.passages), facts.passages, "passages")
    skipped = f"; {task.left_out} queries without a relevant passage skipped" if task.left_out else ""
    return Read(questions_of(task), f"{queries}; {passages}{skipped}")


def pir_parts() -> dict[str, tuple[PublishedPart, ...]]:
    """PIR: six tasks from the Hub, one data set per task.

    The authors filtered the tasks on the Hub once more, so the counts differ from the paper's Table 1. The revisions are those
    that a public evaluation of these data sets pins. The demo's files also serve as local copies.
    """
    return {f"pir-{facts.name}": (_part(facts),) for facts in TASKS.values()}


def _part(facts: PirFacts) -> PublishedPart:
    folders = (facts.hub.rpartition("/")[2], f"pir-{facts.name}", facts.name)
    files = tuple(
        RemoteFile(
            name,
            hf_hub_url(facts.hub, name, repo_type="dataset", revision=facts.revision),
            also=tuple(f"{folder}/{name}" for folder in folders),
        )
        for name in _PIR_FILES
    )
    demo = RemoteFile(f"{facts.name}.json", "", also=("demo_pir_dataset.json",))
    return PublishedPart(f"pir-{facts.name}", files, partial(_read_pir, facts=facts), local=(demo,))


SETS: dict[str, tuple[PublishedPart, ...]] = {
    **berds_parts(),
    **pir_parts(),
    **debateqa_parts(),
    **dmerit_parts(),
    **perspectrum_parts(),
}
GROUPS = {group: tuple(name for name in SETS if name.startswith(f"{group}-")) for group in ("berds", "pir")}
"""Names that stand for several data sets."""


def named_sets(name: str) -> list[str]:
    """The data sets that a name stands for; raises `UnknownNameError` with the closest names."""
    if name in GROUPS:
        return list(GROUPS[name])
    if name not in SETS:
        raise UnknownNameError("published data set", name, [*SETS, *GROUPS])
    return [name]
