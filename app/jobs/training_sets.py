"""Creates and writes training sets for the command line and the pages."""

import io
import tempfile
import zipfile
from pathlib import Path
from typing import TypeVar

from berdseye.annotation.judgments.log import Judgments
from berdseye.annotation.training_sets.formats import (
    empty_folder,
    write_hugging_face,
    write_jsonl,
    write_label_studio,
    write_lines,
)
from berdseye.annotation.training_sets.labelling import RULES, UNSURE_RULES, LabellingRules
from berdseye.annotation.training_sets.leakage import LEAK_HANDLINGS
from berdseye.annotation.training_sets.store import TrainingSetVersion, create
from berdseye.data.datasets.stored import SPLITS
from berdseye.data.errors import UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.detectors.prompts import chats

Named = TypeVar("Named", bound=str)


def create_set_version(
    workspace: Workspace, name: str, rule: str, unsure: str, annotator: str, leaks: str, *, demo: bool, made_by: str
) -> TrainingSetVersion:
    """Create the next version of a training set by rules given as texts. Raises `UnknownNameError` with the nearest valid
    names."""
    return create(
        workspace,
        Judgments.open(workspace.judgments_url),
        name,
        LabellingRules(one_of("rule", rule, RULES), one_of("rule for unsure", unsure, UNSURE_RULES), annotator, demo),
        handling=one_of("way to handle leaks", leaks, LEAK_HANDLINGS),
        made_by=made_by,
    )


def write_set(made: TrainingSetVersion, path: Path, form: str) -> list[Path]:
    """Write a version in one of the formats and return the files."""
    writers = {
        "jsonl": write_jsonl,
        "chat": _write_chats,
        "huggingface": write_hugging_face,
        "label-studio": write_label_studio,
    }
    return writers[one_of("format", form, tuple(writers))](made, path)


FILE_ENDINGS = {
    "jsonl": ".jsonl",
    "chat": "-chat.zip",
    "huggingface": "-huggingface.zip",
    "label-studio": "-tasks.json",
}
"""How the name of the file of a version ends, by format; a format of several files is zipped."""


def file_of_set(made: TrainingSetVersion, form: str) -> bytes:
    """Return a version in one of the formats as the content of one file."""
    with tempfile.TemporaryDirectory(prefix="berdseye-set-") as scratch:
        path = Path(scratch) / f"{made.id}{FILE_ENDINGS[form]}"
        zipped = path.suffix == ".zip"
        written = write_set(made, path.with_suffix("") if zipped else path, form)
        if not zipped:
            return path.read_bytes()
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in written:
                archive.write(file, file.relative_to(path.with_suffix("")))
        return content.getvalue()


def _write_chats(made: TrainingSetVersion, folder: Path) -> list[Path]:
    """Write one file of chats per split."""
    empty_folder(folder)
    pairs = made.pairs()
    written = []
    for split in SPLITS:
        if rows := [p for p in pairs if p.split == split]:
            write_lines(chats(rows), folder / f"{split}.jsonl")
            written.append(folder / f"{split}.jsonl")
    return written


def one_of(kind: str, name_of: str, known: tuple[Named, ...]) -> Named:
    """Return the known name equal to a text. Raises `UnknownNameError` with the nearest names."""
    for name in known:
        if name == name_of:
            return name
    raise UnknownNameError(kind, name_of, known)
