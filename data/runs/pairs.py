"""The pairs of a run's top k passages with the perspectives of its questions, and the keys of these pairs.

The keys are stored with the run, so that labels are looked up without reading a passage.
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

Keys = npt.NDArray[np.bytes_]
_WIDTH = "S32"


@dataclass(frozen=True)
class RunPairs:
    """All pairs of the top k, in the order of questions, ranks and perspectives.

    `places` int64[n_pairs, 3] gives the indices of question, rank and perspective of each pair; `depth` is k.
    """

    pairs: list[Pair]
    places: npt.NDArray[np.int64]
    passages: dict[int, Passage]
    depth: int

    def by_question(
        self, values: npt.NDArray[np.float64], questions: Sequence[Question]
    ) -> list[npt.NDArray[np.float64]]:
        """Arrange one value per pair as one array [depth, n_perspectives] per question; NaN where a ranking is short."""
        widest = max((len(q.perspectives) for q in questions), default=0)
        block: npt.NDArray[np.float64] = np.full((len(questions), self.depth, widest), np.nan)
        block[tuple(self.places.T)] = values
        return [row[:, : len(q.perspectives)] for row, q in zip(block, questions, strict=True)]


def run_pairs(workspace: Workspace, run: Run, questions: Sequence[Question], k: int) -> RunPairs:
    """The pairs of the first k passages of each question.

    Raises `StaleError` if the run no longer matches the data set or the corpus.
    """
    return ranked_pairs(fitting_corpus(workspace, run, questions), run.ids[:, :k], questions)


def fitting_corpus(workspace: Workspace, run: Run, questions: Sequence[Question]) -> Corpus:
    """The corpus of a run; raises `StaleError` if the run no longer matches the data set or the corpus."""
    if [q.id for q in questions] != run.question_ids:
        raise StaleError(
            f"The questions of the data set have changed since run '{run.manifest.name}'.",
            hint="Run the pipeline again.",
        )
    corpus = open_corpus(workspace, run.manifest.corpus)
    if corpus.manifest.hash != run.manifest.corpus_hash:
        raise StaleError(
            f"Corpus '{corpus.name}' has changed since run '{run.manifest.name}'.",
            hint="Run the pipeline again.",
        )
    return corpus


def ranked_pairs(corpus: Corpus, ids: Ids, questions: Sequence[Question]) -> RunPairs:
    """The pairs of the passages `ids` int64[n_questions, k] with the perspectives of their questions."""
    passage_ids = np.unique(ids[ids >= 0])
    passages = dict(zip(passage_ids.tolist(), corpus.passages(passage_ids.tolist()), strict=True))
    pairs: list[Pair] = []
    places: list[tuple[int, int, int]] = []
    for number, question in enumerate(questions):
        ranked = [(rank, passages[i]) for rank, i in enumerate(ids[number].tolist()) if i >= 0]
        for (rank, passage), (place, perspective) in product(ranked, enumerate(question.perspectives)):
            pairs.append(Pair(passage.text, perspective.text, passage.title))
            places.append((number, rank, place))
    return RunPairs(pairs, np.array(places, dtype=np.int64).reshape(-1, 3), passages, ids.shape[1])


def run_keys(
    workspace: Workspace, run: Run, questions: Sequence[Question], k: int, *, deeper: bool = False
) -> tuple[Corpus, Keys]:
    """The corpus of a run, and the keys of the pairs of its top k, bytes[n_questions, k, m_max]; b"" where there is no pair.

    With `deeper`, stored keys below rank k are returned as well. Raises `StaleError` if the run no longer matches the data set
    or the corpus.
    """
    corpus = fitting_corpus(workspace, run, questions)
    k = min(k, run.ids.shape[1])
    path = workspace.runs_folder / ".keys" / f"{run.manifest.name}.npy"
    digest = _digest(run, questions)
    keys = _read(path, digest)
    if keys is None or keys.shape[1] < k:
        keys = keys_of(corpus, run.ids[:, :k], questions)
        _write(path, digest, keys)
    return corpus, keys if deeper else keys[:, :k]


def keys_of(corpus: Corpus, ids: Ids, questions: Sequence[Question]) -> Keys:
    """The keys of the pairs of any rankings `ids` int64[n_questions, k] as bytes[n_questions, k, m_max]; b"" if none."""
    passage_ids = np.unique(ids[ids >= 0])
    texts = dict(zip(passage_ids.tolist(), (p.text for p in corpus.passages(passage_ids.tolist())), strict=True))
    widest = max((len(q.perspectives) for q in questions), default=0)
    keys = np.zeros((*ids.shape, widest), dtype=_WIDTH)
    for row, question in enumerate(questions):
        perspectives = [p.text for p in question.perspectives]
        for rank, passage in enumerate(ids[row].tolist()):
            if passage >= 0:
                keys[row, rank, : len(perspectives)] = pair_keys(texts[passage], perspectives)
    return keys


def _digest(run: Run, questions: Sequence[Question]) -> str:
    """A hash of everything that the keys depend on: the rankings of the run, and the texts of the perspectives."""
    digest = hashlib.blake2b(f"{run.manifest.corpus_hash} {run.manifest.pipeline}\n".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(run.ids).tobytes())
    for question in questions:
        digest.update(repr([p.text for p in question.perspectives]).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _read(path: Path, digest: str) -> Keys | None:
    try:
        _files(path).check()
        with path.open("rb") as file:
            if str(np.load(file, allow_pickle=False)) == digest:
                return np.asarray(np.load(file, allow_pickle=False))
    except (OSError, ValueError, EOFError, DamagedError):
        pass  # missing or damaged: the keys are computed again
    return None


def _write(path: Path, digest: str, keys: Keys) -> None:
    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.save(file, np.array(digest))
            np.save(file, keys)

    with _files(path).writing():
        write_with(path, write)
        _files(path).seal()


def _files(path: Path) -> FileSet:
    return FileSet(
        path.with_name(f"{path.stem}{RECORD}"), (glob.escape(path.name),), lambda: "Berdseye rebuilds it automatically."
    )
