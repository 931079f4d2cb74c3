"""Answers under several temperatures, top-p values and lengths, measured (DebateQA, figures 12 to 14)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from berdseye.data.answers import AnswerSet, load_answers
from berdseye.data.datasets.subsets import Subset
from berdseye.data.errors import BadInputError
from berdseye.data.progress import Progress, silent
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.answer_measures.measures import AnswerMeasure
from berdseye.evaluation.answering.running import AnsweringPlan, answer_dataset
from berdseye.evaluation.studies.charts import curves
from berdseye.evaluation.studies.debateqa.study import Scored
from berdseye.evaluation.studies.result import StudyResult, Table

_FEWEST = 2
_WIDTH, _HEIGHT = 260, 220
_TITLES = {"temperature": "temperature", "top-p": "top-p", "length": "words asked for"}


class Varied(NamedTuple):
    """A plan in which one setting has another value than in the others."""

    setting: str
    value: float
    plan: AnsweringPlan


def varied(
    plan: AnsweringPlan, temperatures: Sequence[float], top_ps: Sequence[float], lengths: Sequence[int]
) -> Iterator[Varied]:
    """Yield a plan for each value; one setting varies at a time, and the others are those of `plan`.

    Raises `BadInputError` if a setting has a single value, for a value that is given twice, and for top-p at temperature 0, where
    it has no effect.
    """
    given: Mapping[str, Sequence[float]] = {"temperature": temperatures, "top-p": top_ps, "length": lengths}
    if not any(given.values()):
        raise BadInputError("Nothing varies.", hint="Give at least two temperatures, top-p values or lengths.")
    for setting, values in given.items():
        if values and len(set(values)) < max(_FEWEST, len(values)):
            raise BadInputError(
                f"The values of {setting} are {', '.join(f'{v:g}' for v in values)}.",
                hint="Give at least two values, all different.",
            )
    if top_ps and plan.sampling.temperature == 0:
        raise BadInputError("At temperature 0, top-p has no effect.", hint="Give --base-temperature above 0.")
    for temperature in temperatures:
        sampling = plan.sampling._replace(temperature=temperature)
        yield Varied("temperature", temperature, replace(plan, sampling=sampling))
    for top_p in top_ps:
        yield Varied("top-p", top_p, replace(plan, sampling=plan.sampling._replace(top_p=top_p)))
    for length in lengths:
        yield Varied("length", length, replace(plan, words=length))


def debateqa_sweep(
    workspace: Workspace,
    dataset: str,
    model: str,
    plan: AnsweringPlan,
    questions: Sequence[Question],
    measures: Sequence[AnswerMeasure],
    *,
    temperatures: Sequence[float] = (),
    top_ps: Sequence[float] = (),
    lengths: Sequence[int] = (),
    subset: Subset,
    progress: Progress = silent,
) -> StudyResult:
    """Let a model answer the questions under each setting of `varied`, and measure the answers.

    The table has a row for each setting with the values of the measures (means over questions with 95% intervals) and the mean
    number of words written. The chart of a measure has a panel for each setting that varies. Answers are stored as sets and
    completions are cached, so that an interrupted study resumes. Raises `BadInputError` as `varied` and `answer_dataset` do.
    """
    plans = list(varied(plan, temperatures, top_ps, lengths))
    sets: list[AnswerSet] = []
    for one in plans:
        written = answer_dataset(
            workspace, dataset, model, one.plan, limit=subset.limit, sample=subset.sample,
            sample_seed=subset.sample_seed, progress=progress,
        )  # fmt: skip
        sets.append(load_answers(workspace, written.name))
    scored = Scored(workspace, list({s.name: s for s in sets}.values()), questions, measures, progress)
    cells: list[dict[str, Any]] = []
    for one, answers in zip(plans, sets, strict=True):
        place = {"setting": one.setting, "of": f"{one.value:g}", "x": float(one.value)}
        cells += [scored.cell(answers, m, **place, measure=str(m)) for m in measures]
        cells.append({**place, "measure": "words", "value": answers.settings["mean_words"], "n": len(questions)})
    frame = pd.DataFrame(cells)
    table = Table(
        "debateqa-sweep", "Measures of answers under each setting", frame, ("setting", "of"), ("measure",), 3,
        ("words: the mean number of words of the answers.",),
    )  # fmt: skip
    settings = {
        "dataset": dataset, "model": sets[0].model, "style": plan.style.name, "measures": [str(m) for m in measures],
        "temperature": plan.sampling.temperature, "max_tokens": plan.sampling.max_tokens, "seed": plan.sampling.seed,
        "answers": [s.name for s in sets],
    }  # fmt: skip
    charts: dict[str, alt.HConcatChart] = {m.name: _panels(frame, str(m)) for m in measures}
    charts["words"] = _panels(frame, "words")
    return StudyResult("debateqa-sweep", settings, [table], charts, scored.notes)


def _panels(cells: pd.DataFrame, measure: str) -> alt.HConcatChart:
    """Draw a measure over each setting that varies, one panel for each."""
    own = cells[(cells["measure"] == measure) & cells["value"].notna()]
    panels = [
        curves(own[own["setting"] == setting], x="x", x_title=title, y_title=measure, colour="measure").properties(
            width=_WIDTH, height=_HEIGHT
        )
        for setting, title in _TITLES.items()
        if (own["setting"] == setting).any()
    ]
    return alt.hconcat(*panels)
