"""The keys of the pairs of a run's top k, kept beside the run: labels are looked up by them without reading a passage."""

import glob
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.data.atomic import write_with
from berdseye.data.checksums import RECORD, FileSet
from berdseye.data.corpora import Corpus
from berdseye.data.errors import DamagedError
from berdseye.data.records import Ids, Question, pair_keys
from berdseye.data.run_pairs import fitting_corpus
from berdseye.data.runs import Run
from berdseye.data.workspace import Workspace

Keys = npt.NDArray[np.bytes_]
_WIDTH = "S32"


def run_keys(
    workspace: Workspace, run: Run, questions: Sequence[Question], k: int, *, deeper: bool = False
) -> tuple[Corpus, Keys]:
    """The corpus of a run, and the key of each pair of its top k, bytes[n_questions, k, m_max]; b"" where there is no pair.

    `deeper`: with those below k that are kept already. Raises `StaleError` as `fitting_corpus` does.
    """
    corpus = fitting_corpus(workspace, run, questions)
    k = min(k, run.ids.shape[1])
    path = workspace.runs_folder / ".keys" / f"{run.manifest.name}.npy"
    made_of = _digest(run, questions)
    kept = _read(path, made_of)
    if kept is None or kept.shape[1] < k:
        kept = keys_of(corpus, run.ids[:, :k], questions)
        _write(path, made_of, kept)
    return corpus, kept if deeper else kept[:, :k]


def keys_of(corpus: Corpus, ids: Ids, questions: Sequence[Question]) -> Keys:
    """The keys of the pairs of any ranking `ids` int64[n_questions, k], in the same form."""
    known = np.unique(ids[ids >= 0])
    texts = dict(zip(known.tolist(), (p.text for p in corpus.passages(known.tolist())), strict=True))
    widest = max((len(q.perspectives) for q in questions), default=0)
    found = np.zeros((*ids.shape, widest), dtype=_WIDTH)
    for row, question in enumerate(questions):
        perspectives = [p.text for p in question.perspectives]
        for rank, passage in enumerate(ids[row].tolist()):
            if passage >= 0:
                found[row, rank, : len(perspectives)] = pair_keys(texts[passage], perspectives)
    return found


def _digest(run: Run, questions: Sequence[Question]) -> str:
    """What the keys are made of: the run as it was made, and the texts of the perspectives."""
    digest = hashlib.blake2b(f"{run.manifest.corpus_hash} {run.manifest.pipeline}\n".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(run.ids).tobytes())
    for question in questions:
        digest.update(repr([p.text for p in question.perspectives]).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _read(path: Path, made_of: str) -> Keys | None:
    try:
        _files(path).check()
        with path.open("rb") as file:
            if str(np.load(file, allow_pickle=False)) == made_of:
                return np.asarray(np.load(file, allow_pickle=False))
    except (OSError, ValueError, EOFError, DamagedError):
        pass  # not there, or damaged: it is made again
    return None


def _write(path: Path, made_of: str, keys: Keys) -> None:
    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.save(file, np.array(made_of))
            np.save(file, keys)

    with _files(path).writing():
        write_with(path, write)
        _files(path).seal()


def _files(path: Path) -> FileSet:
    return FileSet(
        path.with_name(f"{path.stem}{RECORD}"), (glob.escape(path.name),), lambda: "It is made again by itself."
    )
