"""Leaning and sycophancy of retrieval: which side the retrieved passages support, and whether it follows the side of the query
(BERDS, figures 2 and 3)."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.corpora import open_corpus
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.records import Question
from berdseye.detectors.sides import SIDES, TwoSides, supporting_sides
from berdseye.evaluation.bias.charts import LEANING_COLOURS, sycophancy_arrows
from berdseye.evaluation.bias.sides import (
    Leaning,
    delta,
    leanings,
    shares_of_leanings,
    shown,
    side_counts,
    supporting_places,
)
from berdseye.evaluation.labels.labelled_runs import labelled_ranking
from berdseye.evaluation.labels.support import Support, judged_together
from berdseye.evaluation.scores.counted import under_rule
from berdseye.evaluation.scores.enough_judged import enough_judged, withheld
from berdseye.evaluation.studies.charts import stacked
from berdseye.evaluation.studies.gathering import Gatherer, Selection, corpus_ranking
from berdseye.evaluation.studies.result import StudyResult, Table
from berdseye.retrieval.protocol import Query

_QUERIES = ("question", "supporting", "opposing")


def leaning(
    gatherer: Gatherer,
    selection: Selection,
    *,
    k: int = 5,
    model: LanguageModel | None = None,
    prompt: PromptTemplate = SIDES,
) -> StudyResult:
    """Classify questions with two sides by the sides that the top k supports, by corpus and pipeline (BERDS, figure 2).

    `model`, asked with `prompt`, assigns the sides of questions whose data do not name them; without it these questions are left
    out.
    """
    rows, unsided = [], 0
    gatherer.runs(selection, k)
    for corpus, pipeline in product(selection.corpora, selection.pipelines):
        counted_leanings: list[Leaning | None] = []
        unsided, supports = 0, []
        for dataset in selection.datasets:
            run = gatherer.run(dataset, corpus, pipeline, k)
            questions, support = gatherer.support(run, k)
            places = sides(gatherer, questions, model, prompt)
            counted = under_rule(gatherer.counted(run), support, k, gatherer.rule)
            by_question = leanings(support, places, k)
            counted_leanings += [one for one, counts in zip(by_question, counted.tolist(), strict=True) if counts]
            unsided += by_question.count(None)
            supports.append((support, counted & (places >= 0)))
        judged = judged_together(supports, k)
        provenance = gatherer.provenance(judged)
        rows += [
            {"corpus": corpus, "pipeline": pipeline, **shown(share, judged, gatherer.floor), **provenance}
            for share in shares_of_leanings(counted_leanings)
        ]
    cells = pd.DataFrame(rows)
    caption = f"Sides that the top {k} passages support, percent of questions with two sides"
    table = Table("berds-leaning", caption, cells, ("corpus", "pipeline"), ("leaning",))
    drawn = cells.assign(row=cells["pipeline"] + ", " + cells["corpus"])
    chart = stacked(drawn, "percent of questions", row="row", colour="leaning", colours=LEANING_COLOURS)
    settings = {**selection.settings(), "k": k, "labels": str(gatherer.source), **_asked(model, prompt)}
    notes = _left_out(unsided)
    return StudyResult("berds-leaning", settings, [table], {"leaning": chart}, notes)


def following(
    gatherer: Gatherer,
    selection: Selection,
    *,
    k: int = 5,
    model: LanguageModel | None = None,
    prompt: PromptTemplate = SIDES,
) -> StudyResult:
    """Measure how far retrieval follows the side of the query (BERDS, figure 3).

    The question, its supporting and its opposing perspective are each used as the query; Delta = (p - n) / p compares the shares
    of all retrieved passages that support the supporting (p) and the opposing perspective (n); see
    `berdseye.evaluation.bias.sides.delta`. The columns `supporting` and `opposing` hold p and n in percent.
    """
    rows, unsided = [], 0
    gatherer.runs(selection, k)
    for corpus, pipeline in product(selection.corpora, selection.pipelines):
        counts: dict[str, list[npt.NDArray[np.float64]]] = {asked: [] for asked in _QUERIES}
        supports: dict[str, list[tuple[Support, npt.NDArray[np.bool_]]]] = {asked: [] for asked in _QUERIES}
        unsided = 0
        for dataset in selection.datasets:
            run = gatherer.run(dataset, corpus, pipeline, k)
            questions, _ = gatherer.support(run, k)
            counted = gatherer.counted(run)
            places = sides(gatherer, questions, model, prompt)
            sided = np.flatnonzero(places >= 0)
            unsided += len(questions) - len(sided)
            kept, supporting = [questions[i] for i in sided], places[sided]
            for asked in _QUERIES if kept else ():
                own = 1 - supporting if asked == "opposing" else supporting
                queries = [
                    _query(question, None if asked == "question" else place)
                    for question, place in zip(kept, own.tolist(), strict=True)
                ]
                support = _support(gatherer, corpus, pipeline, kept, queries, k)
                own_counted = under_rule(counted[sided], support, k, gatherer.rule)
                supports[asked].append((support, own_counted))
                counts[asked].append(side_counts(support, supporting, k)[own_counted])
        for asked, by_dataset in counts.items():
            together = np.concatenate([np.empty((0, 2)), *by_dataset])
            judged = judged_together(supports[asked], k)
            estimate = withheld(delta(together), judged, gatherer.floor)
            p, n = 100 * together.sum(axis=0) / (k * max(len(together), 1))
            shares = {"supporting": p, "opposing": n} if enough_judged(judged, gatherer.floor) else {}
            rows.append({"corpus": corpus, "pipeline": pipeline, "asked": asked, **estimate._asdict(), **shares,
                         **gatherer.provenance(judged)})  # fmt: skip
    cells = pd.DataFrame(rows)
    table = Table(
        "berds-sycophancy",
        f"Delta = (p - n) / p of the top {k} of all questions by query; 1: no passage is opposing, 0: as many opposing as "
        "supporting",
        cells,
        ("corpus", "pipeline"),
        ("asked",),
        digits=2,
        notes=(
            "p and n are percentages of the passages retrieved for all questions; the CSV has them in the columns supporting "
            "and opposing. Without a supporting passage (p = 0) Delta is undefined.",
        ),
    )
    drawn = cells.assign(system=cells["pipeline"] + ", " + cells["corpus"])
    settings = {**selection.settings(), "k": k, "labels": str(gatherer.source), **_asked(model, prompt)}
    return StudyResult(
        "berds-sycophancy", settings, [table], {"delta": sycophancy_arrows(drawn)},
        _left_out(unsided),
    )  # fmt: skip


def sides(
    gatherer: Gatherer, questions: Sequence[Question], model: LanguageModel | None, prompt: PromptTemplate = SIDES
) -> npt.NDArray[np.int64]:
    """Return the place of the supporting perspective, int64[n_questions]: from the data, otherwise from the model, otherwise
    -1."""
    places = supporting_places(questions)
    unknown = [i for i in np.flatnonzero(places < 0).tolist() if len(questions[i].perspectives) == 2]
    if model is not None and unknown:
        two_sides = [TwoSides(questions[i].text, *(p.text for p in questions[i].perspectives)) for i in unknown]
        places[unknown] = supporting_sides(
            model, CompletionCache(gatherer.workspace), two_sides, prompt=prompt, progress=gatherer.progress
        )
    return places


def _query(question: Question, place: int | None) -> Query:
    text = question.text if place is None else question.perspectives[place].text
    return Query(text, question.text, perspectives=tuple(p.text for p in question.perspectives))


def _support(
    g: Gatherer, corpus: str, pipeline: str, questions: Sequence[Question], queries: Sequence[Query], k: int
) -> Support:
    opened = open_corpus(g.workspace, corpus)
    ids = corpus_ranking(g.workspace, opened, g.parsed(pipeline), queries, k, progress=g.progress)
    return labelled_ranking(
        g.workspace, g.judgments, opened, questions, ids, g.source.plain, progress=g.progress
    ).support


def _asked(model: LanguageModel | None, prompt: PromptTemplate) -> dict[str, Any]:
    settings: dict[str, Any] = {"model": model.name if model else None}
    return settings | ({"prompt": {prompt.name: prompt.version}} if prompt is not SIDES else {})


def _left_out(unsided: int) -> tuple[str, ...]:
    if not unsided:
        return ()
    return (
        f"Left out because the data do not name their two sides: {unsided} questions. A study with a language model (the option "
        "Model) assigns sides to them, too.",
    )
