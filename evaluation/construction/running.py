"""Running a construction step by step, and what it would ask at most.

A step is run if its input, its prompts, its model or its settings differ from those of its stored rows. A step's rows are written
when it is finished; what a killed step had asked is in the cache of completions, so that running again gives the same bytes.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.files.locks import locked
from berdseye.data.language_models.cost import HighestCost, highest_cost
from berdseye.data.language_models.protocol import Prompt
from berdseye.data.progress import Progress, silent
from berdseye.evaluation.construction.asking import Asking
from berdseye.evaluation.construction.rows import Row
from berdseye.evaluation.construction.steps import Step
from berdseye.evaluation.construction.stored import RUNNING, SOURCES, Construction, busy
from berdseye.evaluation.construction.working import Working

Counting = Callable[[str], AbstractContextManager[Progress]]


class ExpectedStep(NamedTuple):
    """What a step would do: the rows that it gets at most (`exact` where the step before is finished), and its calls of the
    language model, None for a step that makes none. `finished`: its stored rows are up to date."""

    name: str
    title: str
    rows: int
    exact: bool
    finished: bool
    cost: HighestCost | None


def run_construction(
    construction: Construction,
    *,
    until: str | None = None,
    only: str | None = None,
    counting: Counting = lambda _: nullcontext(silent),
) -> list[str]:
    """Run the steps that are not up to date, in order, and return their names.

    With `until`, the steps after it are not run; with `only`, that step alone is, whose predecessor must be finished. Raises
    `UnknownNameError` for unknown steps, `BerdseyeError` if another process runs this construction, `BadInputError` if the
    sources have no row that can be used, and what steps raise.
    """
    for name in (until, only):
        if name is not None and name not in construction.step_names:
            raise UnknownNameError("step", name, construction.step_names)
    ran = []
    with locked(construction.folder / RUNNING, busy=busy(construction)):
        for name in construction.step_names:
            if only is None or name == only:
                with counting(f"{construction.name}: {name}") as progress:
                    if _run_step(construction, name, construction.working(progress)):
                        ran.append(name)
                if name == SOURCES:
                    _check_rows(construction, construction.rows(SOURCES))
            if name in (until, only):
                break
    return ran


def expected(construction: Construction) -> list[ExpectedStep]:
    """Return what the steps would do, in order, without asking a model.

    Rows of steps that wait for others are counted as if none were rejected. Costs are the highest possible for one attempt a row;
    completions that are stored cost nothing. Raises `BadInputError` if the sources have no row that can be used.
    """
    working = construction.working()
    rows: Sequence[Row] = []
    count, exact, expecting = 0, True, []
    for name in construction.step_names:
        step = None if name == SOURCES else construction.kind.step(name)
        finished = exact and _is_finished(construction, name, working)
        cost = None
        if step is None:
            read = construction.rows(SOURCES) if finished else construction.kind.read(working)
            _check_rows(construction, read)
            rows = _kept(read)
            expecting.append(ExpectedStep(name, "rows read", len(rows), True, finished, None))
            count = len(rows)
            continue
        if step.asks:
            cost = HighestCost(0, 0, 0, 0.0) if finished else _cost(working, step, rows, count)
        expecting.append(ExpectedStep(name, step.title, count, exact, finished, cost))
        if finished:
            rows = construction.kept(name)
            count = len(rows)
        else:
            exact, count = False, round(count * step.growth)
    return expecting


def is_complete(construction: Construction) -> bool:
    """Whether all steps are finished and up to date."""
    working = construction.working()
    return all(_is_finished(construction, name, working) for name in construction.step_names)


def _check_rows(construction: Construction, rows: Sequence[Row]) -> None:
    """Raise a `BadInputError` unless a row of the sources can be used."""
    if _kept(rows):
        return
    what = f"Rejected rows: {len(rows):,}; the first one {rows[0].rejected}" if rows else "Nothing was found in them"
    raise BadInputError(
        f"No row of the sources of '{construction.name}' can be used. {what}.",
        where=", ".join(source.path for source in construction.sources),
        hint=f"This kind reads {construction.kind.sources}.",
    )


def _run_step(construction: Construction, name: str, working: Working) -> bool:
    if _is_finished(construction, name, working):
        return False
    if name == SOURCES:
        rows = list(construction.kind.read(working))
    else:
        step = construction.kind.step(name)
        before = construction.kept(_before(construction, name))
        rows = step.work(working, before)
    construction.store(name, rows, _made_from(construction, name, working))
    return True


def _is_finished(construction: Construction, name: str, working: Working) -> bool:
    stored = construction.made_from(name)
    if stored is None:
        return False
    if name != SOURCES and construction.made_from(_before(construction, name)) is None:
        return False
    return stored == _made_from(construction, name, working)


def _made_from(construction: Construction, name: str, working: Working) -> str:
    """Return a hash of all that determines the rows of a step."""
    parts: dict[str, Any] = {"settings": dict(construction.settings)}
    if name == SOURCES:
        parts["sources"] = [(source.name, source.sha256) for source in construction.sources]
    else:
        step = construction.kind.step(name)
        parts["version"] = step.version
        parts["prompts"] = {asking.name: _asked(asking, working) for asking in step.asks}
        parts["model"] = working.model.version if step.asks else ""
        parts["rows"] = [(row.id, dict(row.fields)) for row in construction.kept(_before(construction, name))]
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


def _asked(asking: Asking, working: Working) -> list[Any]:
    return [working.template(asking).version, asking.max_tokens, asking.temperature, asking.top_p, asking.seed]


def _before(construction: Construction, name: str) -> str:
    return construction.step_names[construction.step_names.index(name) - 1]


def _kept(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if not row.rejected]


def _cost(working: Working, step: Step, rows: Sequence[Row], count: int) -> HighestCost:
    """Return the cost of `count` calls of each prompt of a step, of which `rows` are those that already exist."""
    total = HighestCost(0, 0, 0, 0.0)
    for asking in step.asks:
        template = working.template(asking)
        assumed = {slot: " ".join(["word"] * asking.words) for slot in asking.slots}
        prompts: list[Prompt] = []
        for row in rows:
            if step.applies(row):
                try:
                    prompts.append(template.fill(asking.values(row)))
                except KeyError:  # a field that an earlier step has yet to give
                    prompts.append(template.fill(assumed))
        prompts += [template.fill(assumed)] * (count - len(rows))
        cost = highest_cost(working.model, prompts, asking.max_tokens)
        dollars = None if cost.dollars is None or total.dollars is None else cost.dollars + total.dollars
        total = HighestCost(total.calls + cost.calls, total.words + cost.words, total.tokens + cost.tokens, dollars)
    return total
