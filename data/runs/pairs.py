"""The keys of the pairs of a run's top k, kept beside the run: labels are looked up by them without reading a passage.

The pairs that a run's top k makes with the perspectives of its questions.
"""

import glob
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from berdseye.data.corpora import Corpus, open_corpus
from berdseye.data.errors import DamagedError, StaleError
from berdseye.data.files.atomic import write_with
from berdseye.data.files.checksums import RECORD, FileSet
from berdseye.data.records import Ids, Pair, Passage, Question, pair_keys
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace


@dataclass(frozen=True)
class RunPairs:
    """Every pair of the top k, in the order of questions, ranks and perspectives; `places` says which (q, rank, p)."""

    pairs: list[Pair]
    places: npt.NDArray[np.int64]
    passages: dict[int, Passage]
    depth: int

    def by_question(
        self, values: npt.NDArray[np.float64], questions: Sequence[Question]
    ) -> list[npt.NDArray[np.float64]]:
        """A value a pair, as one array [depth, n_perspectives] a question; NaN where the ranking is short."""
        widest = max((len(q.perspectives) for q in questions), default=0)
        block: npt.NDArray[np.float64] = np.full((len(questions), self.depth, widest), np.nan)
        block[tuple(self.places.T)] = values
        return [row[:, : len(q.perspectives)] for row, q in zip(block, questions, strict=True)]


def run_pairs(workspace: Workspace, run: Run, questions: Sequence[Question], k: int) -> RunPairs:
    """Pairs of the first k passages of each question; raises `StaleError` as `fitting_corpus` does."""
    return ranked_pairs(fitting_corpus(workspace, run, questions), run.ids[:, :k], questions)


def fitting_corpus(workspace: Workspace, run: Run, questions: Sequence[Question]) -> Corpus:
    """The corpus of a run; raises `StaleError` where the run does not fit the data set or the corpus any more."""
    if [q.id for q in questions] != run.question_ids:
        raise StaleError(
            f"Run '{run.manifest.name}' does not fit its data set any more.", hint="Run the pipeline again."
        )
    corpus = open_corpus(workspace, run.manifest.corpus)
    if corpus.manifest.hash != run.manifest.corpus_hash:
        raise StaleError(
            f"Corpus '{corpus.name}' has changed since run '{run.manifest.name}'.",
            hint="Run the pipeline again.",
        )
    return corpus


def ranked_pairs(corpus: Corpus, ids: Ids, questions: Sequence[Question]) -> RunPairs:
    """Pairs of the passages `ids` int64[n_questions, k] with the perspectives of the questions they were found for."""
    known = np.unique(ids[ids >= 0])
    passages = dict(zip(known.tolist(), corpus.passages(known.tolist()), strict=True))
    pairs: list[Pair] = []
    places: list[tuple[int, int, int]] = []
    for number, question in enumerate(questions):
        found = [(rank, passages[i]) for rank, i in enumerate(ids[number].tolist()) if i >= 0]
        for (rank, passage), (place, perspective) in product(found, enumerate(question.perspectives)):
            pairs.append(Pair(passage.text, perspective.text, passage.title))
            places.append((number, rank, place))
    return RunPairs(pairs, np.array(places, dtype=np.int64).reshape(-1, 3), passages, ids.shape[1])


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
