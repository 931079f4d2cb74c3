"""The Python API: a workspace, with results as pandas data frames."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.annotation.judgments.log import Judgments, PairRecord, Verdict
from berdseye.app.python.run import USUAL, Compared, Run, facts_html
from berdseye.data.corpora import open_corpus
from berdseye.data.datasets.stored import load_dataset
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Pair, Passage, Perspective, Question
from berdseye.data.runs.stored import list_runs, load_run
from berdseye.data.workspace import Workspace as Folder
from berdseye.evaluation.failures.contrast import contrasts
from berdseye.evaluation.failures.hole_map import hole_map
from berdseye.evaluation.failures.reasons import POOL_DEPTH, others_of, pool_ranks, reasons_of_holes
from berdseye.evaluation.labels.labelled_runs import LabelledRun, labelled_run
from berdseye.evaluation.labels.sources import LabelSource, default_source, labels_of, parse_label_source
from berdseye.evaluation.measures import parse_measure, parse_measures
from berdseye.evaluation.scores.enough_judged import Floor
from berdseye.evaluation.scores.score import macro_average
from berdseye.evaluation.scores.scoring import score_runs
from berdseye.evaluation.statistics.significance import Test

if TYPE_CHECKING:
    from berdseye.evaluation.methods.wording import MethodsReport
    from berdseye.evaluation.studies.result import StudyResult

Row = Mapping[str, Any] | pd.Series
"""A row of `Workspace.labels`, or a mapping with dataset, question_id, place, corpus and passage."""
_DEPTH = 20
_FOUND = ("corpus", "pipeline", "rank", "passage", "score", "title", "text", "url")
_PLACED = ("dataset", "question_id", "place", "corpus", "passage")
_RUNS = ("run", "dataset", "corpus", "pipeline", "questions", "k", "ms_per_question", "created")
_MEASURED = (
    "dataset",
    "corpus",
    "pipeline",
    "measure",
    "value",
    "low",
    "high",
    "n",
    "judged",
    "labels",
    "detector_version",
    "grade",
)


class Workspace:
    """A workspace. `folder` is the workspace that the other packages take; `people` gives access to the judgments."""

    def __init__(self, folder: Folder, progress: Progress = silent) -> None:
        self.folder, self.progress = folder, progress
        self.people = Judgments.open(folder.judgments_url)

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets."""
        return self.folder.datasets()

    @property
    def corpora(self) -> list[str]:
        """Names of the corpora."""
        return self.folder.corpora()

    @property
    def detectors(self) -> list[str]:
        """Names of the detectors that are ready for use, the adopted one first."""
        from berdseye.detectors.trained import detector_names

        return detector_names(self.folder)

    @property
    def studies(self) -> list[str]:
        """Names of the studies that `study` runs."""
        from berdseye.evaluation.studies.by_name.study_registry import STUDIES

        return sorted(STUDIES)

    def add_corpus(self, name: str, source: str | Path, **options: Any) -> int:
        """Add a corpus from a file or folder, with the options of `berdseye corpus add`; returns the number of its passages."""
        from berdseye.data.corpora import add_corpus

        add_corpus(self.folder, name, Path(source), progress=self.progress, **options)
        return open_corpus(self.folder, name).manifest.count

    def add_dataset(self, name: str, source: str | Path) -> pd.DataFrame:
        """Add a data set from a file in one of the known layouts; returns its questions as `questions` does."""
        from berdseye.data.datasets.stored import import_dataset

        import_dataset(self.folder, name, Path(source))
        return self.questions(name)

    def questions(self, dataset: str) -> pd.DataFrame:
        """Return one row a question: question_id, question, perspectives (a tuple of texts) and stances (a tuple)."""
        rows = [
            (q.id, q.text, tuple(p.text for p in q.perspectives), tuple(p.stance for p in q.perspectives))
            for q in load_dataset(self.folder, dataset)
        ]
        return pd.DataFrame(rows, columns=["question_id", "question", "perspectives", "stances"])

    def describe_dataset(self, name: str) -> pd.DataFrame:
        """Return one row a figure of a data set: fact, value (NaN: unknown), paper (the printed figure or NaN), place (paper and
        table) and note."""
        from berdseye.evaluation.describing import Fact, describe_dataset

        return pd.DataFrame(describe_dataset(self.folder, name), columns=list(Fact._fields))

    def describe_corpus(self, name: str) -> pd.DataFrame:
        """Return one row a figure of a corpus, with the columns of `describe_dataset`; its texts stay on disk."""
        from berdseye.evaluation.describing import Fact, describe_corpus

        return pd.DataFrame(describe_corpus(self.folder, name), columns=list(Fact._fields))

    def question(self, dataset: str, question_id: str) -> Question:
        """Return one question of a data set; raises `UnknownNameError` with the nearest ids."""
        known = {q.id: q for q in load_dataset(self.folder, dataset)}
        if question_id not in known:
            raise UnknownNameError("question", question_id, known)
        return known[question_id]

    def passages(self, corpus: str, ids: Sequence[int]) -> list[Passage]:
        """Return passages of a corpus by their ids, in the order of the ids."""
        return open_corpus(self.folder, corpus).passages([int(i) for i in ids])

    def search(
        self,
        question: str | Question,
        corpus: str | Sequence[str] | None = None,
        pipeline: str | Sequence[str] = "bm25",
        k: int = 5,
        *,
        perspectives: Sequence[str] = (),
        labels: str | None = None,
    ) -> pd.DataFrame:
        """Return the top k of each corpus (by default of all corpora) and pipeline, one row a passage.

        Columns: corpus, pipeline, rank, passage (its id), score, title, text, url, and P1, P2, … for the perspectives: True
        (supports), False, or None without a label. `perspectives` are those of a question given as text; a `Question` brings its
        own. `attrs["perspectives"]` of the table lists their texts.
        """
        from berdseye.evaluation.pipelines import pipeline_of
        from berdseye.retrieval.pipeline import search
        from berdseye.retrieval.protocol import query_of

        asked = question
        if isinstance(asked, str):
            asked = Question("", "", asked, tuple(Perspective(text) for text in perspectives))
        corpora = self.corpora if corpus is None else _listed(corpus)
        rows: list[tuple[Any, ...]] = []
        found: list[Passage] = []
        for name, written in product(corpora, _listed(pipeline)):
            opened, parsed = open_corpus(self.folder, name), pipeline_of(self.folder, written)
            ids, scores = search(opened, parsed, [query_of(asked)], k, progress=self.progress)
            listed = opened.passages(ids[0][ids[0] >= 0].tolist())
            found += listed
            rows += [
                (name, str(parsed), rank, p.id, score, p.title, p.text, p.url)
                for rank, (p, score) in enumerate(zip(listed, scores[0].tolist(), strict=False), 1)
            ]
        table = pd.DataFrame(rows, columns=_FOUND)
        texts = {f"P{place}": p.text for place, p in enumerate(asked.perspectives, 1)}
        for column, text in texts.items():
            table[column] = _labels(self._say([Pair(p.text, text, p.title) for p in found], labels))
        table.attrs["perspectives"] = texts
        return table

    def detect(self, passage: str, perspectives: str | Sequence[str], detector: str | None = None) -> pd.DataFrame:
        """Label a text by a detector, by default the adopted one. Columns: perspective, probability (of support), opposing (the
        probability that it opposes, NaN from detectors that do not tell it), supports, opinion and detector. The opinion is
        `supports`, `opposes`, `neither` or `unsure`, or, from a detector of grade topic, `on topic`, `off topic` or `unsure`."""
        from berdseye.detectors.detector_registry import parse_detector
        from berdseye.detectors.labelling import opined

        chosen = parse_detector(detector or self.detectors[0], self.folder)
        texts = _listed(perspectives)
        found = opined(self.folder, chosen, [Pair(passage, text) for text in texts])
        return pd.DataFrame({"perspective": texts, "probability": [one.label.probability for one in found],
                             "opposing": [one.opposing for one in found],
                             "supports": [one.label.supports for one in found],
                             "opinion": [one.opinion for one in found], "detector": chosen.name})  # fmt: skip

    def run(self, dataset: str, corpus: str, pipeline: str, k: int = _DEPTH) -> Run:
        """Return the run of a pipeline on a data set over a corpus, at least k deep. A stored run that is up to date is reused;
        otherwise the pipeline runs and the run is stored."""
        from berdseye.evaluation.studies.gathering import Gatherer

        gatherer = Gatherer(self.folder, self.people, self._source(None), self.progress)
        return Run(self, gatherer.run(dataset, corpus, pipeline, k))

    def stored(self, name: str) -> Run:
        """Return a stored run by its name, such as 'debate--web--bm25'; raises `UnknownNameError` with the nearest names."""
        return Run(self, load_run(self.folder, name))

    def runs(self) -> pd.DataFrame:
        """Return the stored runs, one row each: run (its name), dataset, corpus, pipeline, questions, k,
        ms_per_question, created."""
        rows = [
            (m.name, m.dataset, m.corpus, m.pipeline, m.questions, m.k, m.milliseconds_per_question, m.created)
            for m in list_runs(self.folder)
        ]
        return pd.DataFrame(rows, columns=_RUNS)

    def measures(
        self,
        runs: Run | str | Iterable[Run | str] | None = None,
        names: str = USUAL,
        labels: str | None = None,
        *,
        min_judged: Floor | None = None,
        unjudged: str | None = None,
    ) -> pd.DataFrame:
        """Compute measures of runs, one row each: dataset, corpus, pipeline, measure, value, low and high (95%
        interval), n (questions),
        judged (judged@k), labels (their source), detector_version and its grade. Shares are from 0 to 1.

        `names` are measures separated by spaces, `labels` a label source, by default that of the workspace. Without
        `runs`, all stored
        runs are measured, and their means over the data sets are the data set 'average'. A value is NaN if less than
        `min_judged` of the pairs of the top k have a label; the default is the
        workspace's setting, and 'off' (or 0) shows every value.
        `unjudged` says how a question counts whose top k has no label: 'zero', or 'left-out'; the default is the setting.
        """
        chosen = self._runs(runs)
        scores = score_runs(
            self.folder,
            self.people,
            [r.stored for r in chosen],
            self._source(labels),
            parse_measures(names),
            min_judged=min_judged,
            unjudged=unjudged,
            progress=self.progress,
        )
        scores += macro_average(scores) if runs is None else []
        return pd.DataFrame([s.as_row() for s in scores], columns=_MEASURED)

    def methods(
        self,
        labels: str | None = None,
        measures: str = USUAL,
        *,
        test: Test = "randomisation",
        correction: str = "holm",
    ) -> "MethodsReport":
        """Return what a paper must state about the annotation and evaluation of the workspace; its methods `markdown` and `latex`
        write the paragraphs and the table, and `facts` are the rows of the table."""
        from berdseye.evaluation.methods.report import methods_report

        return methods_report(
            self.folder, self.people, self._source(labels), parse_measures(measures), test=test, correction=correction
        )

    def labelled(self, run: Run | str, k: int, labels: str | None = None) -> LabelledRun:
        """Return the top k of a run with its labels as arrays, for computations of your own."""
        return labelled_run(
            self.folder, self.people, self._run(run).stored, self._source(labels), k, progress=self.progress
        )

    def labels(self, run: Run | str, k: int = 5, labels: str | None = None) -> pd.DataFrame:
        """Return every pair of the top k, one row each: dataset, question_id, question, corpus, rank, passage, text,
        place (of the
        perspective, from 1), perspective, supports (True, False, or None without a label) and pair (its key)."""
        manifest, found = self._run(run).stored.manifest, self.labelled(run, k, labels)
        rows, ranks, places = np.nonzero(found.keys != b"")
        ids = found.ids[rows, ranks].tolist()
        texts = {p.id: p.text for p in self.passages(manifest.corpus, sorted(set(ids)))}
        said = [found.questions[row] for row in rows.tolist()]
        return pd.DataFrame(
            {
                "dataset": manifest.dataset,
                "question_id": [q.id for q in said],
                "question": [q.text for q in said],
                "corpus": manifest.corpus,
                "rank": ranks + 1,
                "passage": ids,
                "text": [texts[i] for i in ids],
                "place": places + 1,
                "perspective": [q.perspectives[place].text for q, place in zip(said, places.tolist(), strict=True)],
                "supports": _labels(found.labels[rows, ranks, places]),
                "pair": found.keys[rows, ranks, places].astype(str),
            }
        )

    def hole_map(self, run: Run | str, k: int = 5, labels: str | None = None) -> pd.DataFrame:
        """Return the first rank within 100 that covers each perspective of each question, and whether it is a hole at
        k; the table that
        `berdseye.evaluation.failures.charts.hole_chart` draws."""
        return hole_map(self.labelled(run, POOL_DEPTH, labels), k)

    def holes(self, run: Run | str, k: int = 5, labels: str | None = None) -> pd.DataFrame:
        """Return the holes of the top k, each with its reason (evaluation/failures/reasons.py) and the other runs that found it.

        Runs whose data set or corpus have changed since do not take part, and a warning names them.
        """
        chosen = self._run(run)
        manifest, source = chosen.stored.manifest, self._source(labels)
        others, stale = others_of(self.folder, manifest)
        if stale:
            message = f"Not in the pool of {manifest.name}, since data set or corpus have changed: {', '.join(stale)}."
            warnings.warn(message, stacklevel=2)
        pool = pool_ranks(self.folder, self.people, others, source, progress=self.progress)
        return reasons_of_holes(self.people, manifest.dataset, self.labelled(chosen, POOL_DEPTH, labels), pool, k)

    def compare(
        self,
        first: Run | str,
        second: Run | str,
        measure: str = "MRecall@5",
        labels: str | None = None,
        *,
        min_judged: Floor | None = None,
        unjudged: str | None = None,
        test: Test = "randomisation",
        seed: int = 0,
    ) -> Compared:
        """Compare two runs question by question: wins, differences, their significance, and lost perspectives.

        Values are withheld where less than `min_judged` of the pairs of either top k have a label, and `unjudged` names the rule
        for questions without a label in the top k, as in `measures`.
        """
        parsed, a, b = parse_measure(measure), self._run(first), self._run(second)
        source = self._source(labels)
        [found] = contrasts(
            self.folder, self.people, ((a.stored, source), (b.stored, source)), [parsed], min_judged=min_judged,
            unjudged=unjudged, test=test, seed=seed, progress=self.progress,
        )  # fmt: skip
        return Compared(a, b, str(source), found)

    def judge(self, pair: Row, verdict: Verdict, *, person: str, comment: str = "") -> None:
        """Record a person's verdict on a pair: 'supports', 'does not support' or 'unsure'. It is on disk when this returns.

        `pair` is a row of `labels`, or anything with its dataset, question_id, place, corpus and passage.
        """
        record = self._record(pair)
        [key] = self.people.add_pairs([record])
        self.people.judge(self.people.sign_in(person), key, verdict, source="import", comment=comment)

    def withdraw(self, pair: Row, *, person: str) -> None:
        """Withdraw a person's judgment of a pair."""
        self.people.withdraw(self.people.annotator(person), self._record(pair).key, source="import")

    def judgments(self) -> pd.DataFrame:
        """Return the present judgments, one row a person and pair, with the texts of the pair."""
        return self.people.frame()

    def agreement(
        self,
        part: str = "together",
        *,
        detector: str | None = None,
        batch: str | None = None,
        demo: bool = True,
        **choices: Any,
    ) -> pd.DataFrame:
        """Return a table of the agreement among people and with a detector, by default the adopted one: 'together', 'pairs',
        'slices', 'time', 'detection', 'anchoring' and others; on all pairs or on those of a batch. `choices` are those of
        `berdseye.evaluation.agreement.report.Choices`."""
        from berdseye.annotation.batches.stored import load_batch
        from berdseye.detectors.detector_registry import parse_detector
        from berdseye.evaluation.agreement.report import PARTS, Choices, report
        from berdseye.evaluation.agreement.report_input import report_input

        if part not in PARTS:
            raise UnknownNameError("part of the agreement", part, PARTS)
        chosen = parse_detector(detector or self.detectors[0], self.folder)
        among = None if batch is None else load_batch(self.people, batch)
        given = report_input(self.folder, self.people, chosen, Choices(**choices), batch=among, demo=demo)
        return report(*given).parts[part]

    def reliability(self, model: str = "dawid-skene", *, pairs: bool = False, demo: bool = True) -> pd.DataFrame:
        """Return how reliable each person is or, with `pairs`, how certain each pair and whom to ask next, by the model
        'dawid-skene', or by 'mace' or 'glad' (extra `crowd`); `berdseye.evaluation.agreement.people` has the columns."""
        from berdseye.evaluation.agreement.people import MODELS, reliability_table

        known = next((name for name in MODELS if name == model), None)
        if known is None:
            raise UnknownNameError("model", model, MODELS)
        return reliability_table(self.people, known, pairs=pairs, demo=demo)

    def train(self, name: str, kind: str = "stance", *, demo: bool = False) -> str:
        """Train a detector on the judgments, split by question; returns the name that `labels=` takes.

        `kind` is one of `berdseye detector train`; `demo` counts the votes of the simulated annotators.
        """
        from berdseye.app.jobs.improving import set_to_train_on
        from berdseye.app.jobs.training_sets import create_set_version
        from berdseye.detectors.training.training import DETECTOR_OF, TrainingPlan
        from berdseye.evaluation.detection.grading import train_and_grade

        chosen = next((known for known in DETECTOR_OF if known == kind), None)
        if chosen is None:
            raise UnknownNameError("kind of training", kind, DETECTOR_OF)
        version = create_set_version(self.folder, "judged", "adjudicated", "ignored", "", "drop", demo=demo, made_by="")
        data = set_to_train_on(version)
        return train_and_grade(self.folder, TrainingPlan(chosen, name), data, progress=self.progress).detector

    def study(self, name: str, *files: object, **options: object) -> "StudyResult":
        """Run a study by the name and the options of its command, which `berdseye study NAME --help` lists.

        The result has `tables` and `charts`, and is stored in the workspace.
        """
        from berdseye.app.access.acting import acting_name
        from berdseye.evaluation.studies.by_name.study_registry import run_study
        from berdseye.evaluation.studies.result import save_result

        made_by = acting_name(self.folder)  # raises before the computation, not after it
        result = run_study(self.folder, name, *files, progress=self.progress, **options)
        save_result(self.folder, result, made_by=made_by)
        return result

    def __repr__(self) -> str:
        return f"Workspace {self.folder.folder.name}: {', '.join(f'{v} {k}' for k, v in self._counts().items())}"

    def _repr_html_(self) -> str:
        named = {"data sets": self.datasets, "corpora": self.corpora, "detectors": self.detectors}
        told = {kind: ", ".join(names) or "none yet" for kind, names in named.items()}
        counts = {kind: f"{count:,}" for kind, count in self._counts().items() if kind not in told}
        return facts_html(f"Workspace {self.folder.folder.name}", told | counts)

    def _counts(self) -> dict[str, int]:
        return {"data sets": len(self.datasets), "corpora": len(self.corpora), "runs": len(list_runs(self.folder)),
                "judgments": len(self.people.present())}  # fmt: skip

    def _source(self, labels: str | None) -> LabelSource:
        return parse_label_source(labels or default_source(self.folder))

    def _say(self, pairs: Sequence[Pair], labels: str | None) -> npt.NDArray[np.float64]:
        return labels_of(self.folder, self.people, self._source(labels), pairs, progress=self.progress)

    def _run(self, run: Run | str) -> Run:
        return self.stored(run) if isinstance(run, str) else run

    def _runs(self, runs: Run | str | Iterable[Run | str] | None) -> list[Run]:
        if runs is None:
            return [self.stored(m.name) for m in list_runs(self.folder)]
        return [self._run(run) for run in ([runs] if isinstance(runs, Run | str) else runs)]

    def _record(self, pair: Row) -> PairRecord:
        missing = [name for name in _PLACED if name not in pair]
        if missing:
            raise BadInputError(f"The pair has no {', '.join(missing)}.", hint="Take a row of ws.labels(run).")
        dataset, asked, place, corpus, passage = (pair[name] for name in _PLACED)
        question = self.question(str(dataset), str(asked))
        if not 1 <= int(place) <= len(question.perspectives):
            raise BadInputError(
                f"Question '{asked}' has perspectives 1 to {len(question.perspectives)}.",
                hint=f"{place} is none of them.",
            )
        [found] = self.passages(str(corpus), [passage])
        return PairRecord.of(question, question.perspectives[int(place) - 1], str(corpus), found)


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _labels(labels: npt.NDArray[np.float64]) -> list[bool | None]:
    """Convert labels to True, False, or None for NaN."""
    return [None if value != value else value == 1 for value in labels.tolist()]
