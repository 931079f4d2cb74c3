"""DebateQA: test and dev questions with partial answers, from its repository (1,000 and 1,941, as its README says)."""

from functools import partial
from pathlib import Path

from berdseye.data.dataset_formats import read_dataset
from berdseye.data.published_sets.part import Part, Read, RemoteFile, told_count

_HOME = "https://raw.githubusercontent.com/pillowsofwind/DebateQA/main/dataset"
_SPLITS = {"test": 1_000, "dev": 1_941}


def _read(folder: Path, split: str) -> Read:
    imported = read_dataset(folder / f"{split}.jsonl")
    answers = sum(len(q.perspectives) for q in imported.questions)
    told = told_count(len(imported.questions), _SPLITS[split], "questions")
    return Read(imported, f"{told}; {answers:,} partial answers")


def debateqa_parts() -> dict[str, tuple[Part, ...]]:
    """Both splits."""
    return {
        "debateqa": tuple(
            Part(
                f"debateqa-{split}",
                (RemoteFile(f"{split}.jsonl", f"{_HOME}/{split}.jsonl", also=(f"debateqa_{split}.jsonl",)),),
                partial(_read, split=split),
            )
            for split in _SPLITS
        )
    }
