"""Checked facts as a PIR task: find claims that a sentence supports, refutes, or says nothing decisive about.

Source: JSON Lines `{"sentence", "claim", "label"}`, label SUPPORT, REFUTE or NOT ENOUGH INFO. The sentence is the root query; the
claims with a label are what is to be found for it. Queries are worded as in the demo's exfever task.
"""

from pathlib import Path

from berdseye.data.errors import BadInputError
from berdseye.data.pir_reformat.task_file import TaskFile, read_fields

_ASKED = {
    "SUPPORT": "claim that this sentence supports",
    "REFUTE": "claim that this sentence refutes",
    "NOT ENOUGH INFO": "claim that this sentence relates but has no information about",
}
_SPELLINGS = {
    "SUPPORTS": "SUPPORT",
    "SUPPORTED": "SUPPORT",
    "REFUTES": "REFUTE",
    "REFUTED": "REFUTE",
    "NEI": "NOT ENOUGH INFO",
}


def reformat_fact_check(source: Path) -> TaskFile:
    """Raises `BadInputError` with file and line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for line, (sentence, claim, label) in read_fields(source, ("sentence", "claim", "label")):
        known = _SPELLINGS.get(label.upper(), label.upper())
        if known not in _ASKED:
            raise BadInputError(f"'{label}' is no label.", where=source, line=line, hint=f"Use {', '.join(_ASKED)}.")
        groups.setdefault((sentence, known), []).append(claim)
    task = TaskFile()
    for (sentence, label), claims in groups.items():
        task.ask(f"Find a {_ASKED[label]}: {sentence}", sentence, _ASKED[label], label, task.add(claims))
    return task
