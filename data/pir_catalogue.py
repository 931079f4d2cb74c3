"""The six tasks of PIR: their names, sizes and labels."""

from collections.abc import Mapping
from typing import NamedTuple


class PirFacts(NamedTuple):
    """A task as the paper's Table 1 has it.

    `name` is the one in the released files, `paper` the one in the tables; `queries` and `passages` are counts. `labels` gives a
    query's label by words in its perspective, the last that fits, and `usual` where none does: the Hub's rows have no label.
    """

    name: str
    paper: str
    queries: int
    passages: int
    usual: str
    labels: Mapping[str, str]
    revision: str

    @property
    def hub(self) -> str:
        """The data set on the Hub, filtered by its authors once more after the paper."""
        return f"trumancai/perspective-information-retrieval-{self.name}"


TASKS = {
    facts.name: facts
    for facts in (
        PirFacts(
            "agnews", "agnews", 1450, 2900, "subtopic", {"relates to": "subtopic", "happened in": "location"},
            "d314401515c7c68621ccf8b5baa8372a3d0fd4f8",
        ),
        PirFacts(
            "story", "storyanalogy", 2000, 2000, "analogy", {"entities": "entity", "analogy": "analogy"},
            "b3fb76b6af6dac9d2d93e5f74318ce0f8a716028",
        ),
        PirFacts(
            "perspectrum", "perspectrum", 1431, 2773, "support",
            {"support": "support", "oppose": "undermine", "relates to": "general"},
            "113d1f7be476d140d366f063c4a7bdda158ed2a7",
        ),
        PirFacts(
            "ambigqa", "ambigqa", 864, 864, "perspective", {},
            "6395e0dc121189a771f7c643819d92ea6a05b813",
        ),
        PirFacts(
            "allsides", "allsides", 645, 645, "left", {"left": "left", "right": "right", "center": "center"},
            "cb004a74fa915b277a181681149ae14139fbb562",
        ),
        PirFacts(
            "exfever", "ex-fever", 1104, 1104, "not enough info",
            {"supports": "support", "refutes": "refute", "no information": "not enough info"},
            "b0884af3c470911cdaae056b88482bba629df4f7",
        ),
    )
}  # fmt: skip
"""By the released files' names, in the order of Table 2."""


def known_task(name: str) -> PirFacts | None:
    """The task of a name as the files, the Hub or the paper write it; None for a task of one's own."""
    plain = name.lower().removeprefix("pir-").removeprefix("perspective-information-retrieval-").replace("-", "")
    return TASKS.get("story" if plain == "storyanalogy" else plain)
