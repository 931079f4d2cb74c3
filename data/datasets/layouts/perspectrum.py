"""Perspectrum: JSON claims with clusters of perspective ids, and `perspective_pool*.json` in the same folder."""

from pathlib import Path
from typing import Any

from berdseye.data.datasets.layouts.rows import SIDES, Imported, read_perspectives
from berdseye.data.errors import BadInputError
from berdseye.data.files.json_files import read_json
from berdseye.data.records import Question
from berdseye.data.texts.passages import clean


def is_perspectrum(value: Any) -> bool:
    """Whether the content of a JSON file is a list of Perspectrum's claims."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "cId" in value[0]


def read_perspectrum(claims: list[dict[str, Any]], source: Path) -> Imported:
    """Read claims as questions and the first wording of each cluster as a perspective.

    Raises `BadInputError` if the pool is missing.
    """
    pool = perspective_pool(source.parent)
    questions = []
    for claim in claims:
        perspectives = [
            {"text": pool[cluster["pids"][0]], "stance": SIDES.get(cluster["stance_label_3"].lower())}
            for cluster in claim["perspectives"]
            if cluster["pids"] and cluster["pids"][0] in pool
        ]
        questions.append(Question(str(claim["cId"]), "", clean(claim["text"]), read_perspectives(perspectives)))
    return Imported("Perspectrum", questions)


def perspective_pool(folder: Path) -> dict[int, str]:
    """The texts of all perspectives by id; raises `BadInputError` if the folder does not contain the file."""
    pools = sorted(folder.glob("perspective_pool*.json"))
    if not pools:
        raise BadInputError(
            "The folder has no perspective_pool_v1.0.json.", where=folder, hint="Put the released file there."
        )
    try:
        return {int(p["pId"]): str(p["text"]) for p in read_json(pools[0])}
    except (LookupError, TypeError, ValueError) as error:
        raise BadInputError(
            f"The file is incomplete or invalid: {error!r}.", where=pools[0], hint="Use the file as released."
        ) from error
