"""News by political ideology as a PIR task: find articles on a topic from the left, the right or the centre.

Source: JSON Lines `{"topic", "ideology", "article"}`, ideology left, right or center. The topic is the root query; all
its articles of an ideology are to be found. (The paper's task has as many queries as articles.) The wording of queries is ours.
"""

from pathlib import Path

from berdseye.data.errors import BadInputError
from berdseye.data.pir_reformat.task_file import TaskFile, read_fields

_ASKED = {
    "left": "news as a left-leaning paper reports it",
    "right": "news as a right-leaning paper reports it",
    "center": "news as a paper of the center reports it",
}


def reformat_allsides(source: Path) -> TaskFile:
    """Raises `BadInputError` with file and line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for line, (topic, ideology, article) in read_fields(source, ("topic", "ideology", "article")):
        side = "center" if ideology.lower() == "centre" else ideology.lower()
        if side not in _ASKED:
            raise BadInputError(
                f"'{ideology}' is no ideology.", where=source, line=line, hint=f"Use {', '.join(_ASKED)}."
            )
        groups.setdefault((topic, side), []).append(article)
    task = TaskFile()
    for (topic, side), articles in groups.items():
        task.ask(f"{topic}: {_ASKED[side]}", topic, _ASKED[side], side, task.add(articles))
    return task
