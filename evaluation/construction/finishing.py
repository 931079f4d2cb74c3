"""From a finished construction to ordinary data sets: whole, or divided at random into dev and test."""

import random
from dataclasses import replace

from berdseye.data.datasets.stored import save_dataset
from berdseye.data.errors import BadInputError, StaleError
from berdseye.data.records import Question
from berdseye.evaluation.construction.running import is_complete
from berdseye.evaluation.construction.stored import Construction


def finish(
    construction: Construction, dataset: str, *, dev_share: float = 0.0, seed: int = 0, replacing: bool = False
) -> list[str]:
    """Add the data set that a construction has made, and return a line on each thing that was added.

    With a `dev_share`, the questions are divided at random into DATASET-dev and DATASET-test (BERDS: 25% dev). Equal seeds give
    equal parts. Raises `StaleError` if a step is not finished or not up to date, and `BadInputError` if a data set of this name
    exists (unless `replacing`), if nothing is left, and for a share that is not below 1.
    """
    if not is_complete(construction):
        raise StaleError(
            f"'{construction.name}' is not finished.",
            where=construction.folder,
            hint=f"Finish it: `berdseye construct resume {construction.name}`.",
        )
    if not 0 <= dev_share < 1:
        raise BadInputError(f"The share of dev must be at least 0 and below 1, got {dev_share:g}.")
    names = [f"{dataset}-dev", f"{dataset}-test"] if dev_share else [dataset]
    existing = [name for name in names if name in construction.workspace.datasets()]
    if existing and not replacing:
        raise BadInputError(
            f"The data set '{existing[0]}' already exists.", hint="Choose another name, or pass --replace."
        )
    if construction.kind.finish is not None:
        if dev_share:
            raise BadInputError(f"A construction of the kind {construction.kind.name} is not divided.")
        return construction.kind.finish(construction.working(), dataset, construction.kept(construction.step_names[-1]))
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


def _parts(questions: list[Question], dev_share: float, seed: int) -> list[list[Question]]:
    if not dev_share:
        return [questions]
    places = list(range(len(questions)))
    random.Random(seed).shuffle(places)
    dev = set(places[: round(dev_share * len(places))])
    return [[q for place, q in enumerate(questions) if (place in dev) == wanted] for wanted in (True, False)]
