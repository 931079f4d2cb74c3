"""What of a pair a model is shown."""

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from berdseye.data.errors import UnknownNameError
from berdseye.data.passages import clean
from berdseye.data.records import Pair

Title = Literal["none", "before", "after"]
TITLES = ("none", "before", "after")


def passage_text(pair: Pair, title: Title = "none") -> str:
    """The passage, with the title of its document on a line before it, or after it and a blank, as BERDS has it."""
    text, of_document = clean(pair.passage), clean(pair.title)
    if title == "none" or not (text and of_document):
        return text
    return f"{of_document}\n{text}" if title == "before" else f"{text} {of_document}"


def title_place(name: str) -> Title:
    """The place of a title by its name; raises `UnknownNameError`."""
    if name not in TITLES:
        raise UnknownNameError("place of the title", name, TITLES)
    return cast(Title, name)


def readable(pairs: Sequence[Pair]) -> npt.NDArray[np.int64]:
    """Places of the pairs with both texts; the others support nothing and are shown to no model."""
    return np.array(
        [at for at, pair in enumerate(pairs) if clean(pair.passage) and clean(pair.perspective)], dtype=np.int64
    )
