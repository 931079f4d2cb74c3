"""The kinds of constructions by name."""

from berdseye.data.errors import UnknownNameError
from berdseye.evaluation.construction.berds.arguana import ARGUANA
from berdseye.evaluation.construction.berds.kialo import KIALO
from berdseye.evaluation.construction.berds.opinionqa import OPINIONQA
from berdseye.evaluation.construction.berds.questions import QUESTIONS
from berdseye.evaluation.construction.debateqa.kind import DEBATEQA
from berdseye.evaluation.construction.dmerit.kind import DMERIT
from berdseye.evaluation.construction.steps import Kind

KINDS: dict[str, Kind] = {kind.name: kind for kind in (QUESTIONS, ARGUANA, KIALO, OPINIONQA, DEBATEQA, DMERIT)}


def kind_of(name: str) -> Kind:
    """Return the kind of this name; raises `UnknownNameError`."""
    if name not in KINDS:
        raise UnknownNameError("kind of construction", name, KINDS)
    return KINDS[name]
