"""From a finished construction to ordinary data sets: whole, or divided at random into dev and test."""

import random
from collections.abc import Sequence
from dataclasses import replace

from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.records import Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction.running import is_complete
from berdseye.evaluation.construction.stored import Construction


def finish(
    construction: Construction, dataset: str, *, dev_share: float = 0.0, seed: int = 0, replacing: bool = False
) -> list[str]:
    """Add the data set that a construction has made, and return a line on each thing that was added.

    With a `dev_share`, the questions are divided at random into DATASET-dev and DATASET-test (BERDS: 25% dev). Equal seeds give
    equal parts. Raises `StaleError` if a step is not finished or not up to date, and `BadInputError` if data sets or a corpus of
    these names exist (unless `replacing`), if nothing is left, and for a share that is not below 1.
    """
    from berdseye.data.datasets.stored import save_dataset

    if not is_complete(construction):
        raise StaleError(
            f"'{construction.name}' is not finished.",
            where=construction.folder,
            hint=f"Finish it: `berdseye construct resume {construction.name}`.",
        )
    if not 0 <= dev_share < 1:
        raise BadInputError(f"The share of dev must be at least 0 and below 1, got {dev_share:g}.")
    if construction.kind.finish is not None:
        if dev_share:
            raise BadInputError(f"A construction of the kind {construction.kind.name} is not divided.")
        rows = construction.kept(construction.step_names[-1])
        return construction.kind.finish(construction.working(), dataset, rows, replacing)
    names = [f"{dataset}-dev", f"{dataset}-test"] if dev_share else [dataset]
    if not replacing:
        refuse_existing(construction.workspace, names)
    questions = construction.kind.questions(construction.kept(construction.step_names[-1]))
    if not questions:
        raise BadInputError(
            f"Nothing is left of '{construction.name}'.",
            hint=f"See why: `berdseye construct rejected {construction.name}`.",
        )
    lines = []
    for name, part in zip(names, _parts(questions, dev_share, seed), strict=True):
        save_dataset(construction.workspace, name, [replace(question, dataset=name) for question in part])
        lines.append(f"{name}: {len(part):,} questions, {sum(len(q.perspectives) for q in part):,} perspectives")
    return lines


def refuse_existing(workspace: Workspace, datasets: Sequence[str], corpora: Sequence[str] = ()) -> None:
    """Raise a `BadInputError` that names those of these data sets and corpora that exist, if any do."""
    taken = [f"the data set '{name}'" for name in datasets if name in workspace.datasets()]
    taken += [f"the corpus '{name}'" for name in corpora if name in workspace.corpora()]
    if taken:
        text = " and ".join(taken)
        raise BadInputError(
            f"{text[0].upper()}{text[1:]} already exist{'s' if len(taken) == 1 else ''}.",
            hint="Choose another name with --as, or pass --replace.",
        )


def _parts(questions: list[Question], dev_share: float, seed: int) -> list[list[Question]]:
    if not dev_share:
        return [questions]
    places = list(range(len(questions)))
    random.Random(seed).shuffle(places)
    dev = set(places[: round(dev_share * len(places))])
    return [[q for place, q in enumerate(questions) if (place in dev) == wanted] for wanted in (True, False)]
