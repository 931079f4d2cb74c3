"""D-MERIT: its queries, from a folder that was downloaded by hand; `study dmerit` reads the rest from the same folder."""

from pathlib import Path

from berdseye.data.dataset_formats import Imported
from berdseye.data.evidence_sets import RELEASED, read_evidence_set
from berdseye.data.published_sets.part import Part, Read, told_count
from berdseye.data.records import Question

_HOME = "https://D-MERIT.github.io"


def _read(folder: Path) -> Read:
    found = read_evidence_set(folder)
    counts = (
        told_count(len(found.queries), RELEASED.queries, "queries"),
        told_count(sum(len(q.relevant) for q in found.queries), RELEASED.relevant, "relevant passages"),
        told_count(len(found.passages), RELEASED.passages, "passages"),
        *found.notes,
    )
    return Read(Imported("D-MERIT", [Question(q.id, "", q.text) for q in found.queries]), "; ".join(counts))


def dmerit_parts() -> dict[str, tuple[Part, ...]]:
    """One data set of questions without perspectives."""
    return {"dmerit": (Part("dmerit", (), _read, by_hand=_HOME),)}
