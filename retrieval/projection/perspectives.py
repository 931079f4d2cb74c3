"""Where a projection's perspective comes from: the data, the difference q - r, or a language model that reads the query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from berdseye.data.errors import BadInputError
from berdseye.data.grammar import Call, show
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.model_registry import open_language_model
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.workspace import Workspace
from berdseye.retrieval.expansion.language_model import EXTRACTION, extract
from berdseye.retrieval.protocol import Query

DIFFERENCE = "difference"


class PerspectiveSource(Protocol):
    """`name` is what stands in `pap(perspective=NAME)`; empty for what is usual."""

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> dict[str, str]: ...

    def complete(self, queries: Sequence[Query]) -> list[Query]:
        """The queries with what this source says of their roots and perspectives."""
        ...


@dataclass(frozen=True)
class FromData:
    """The perspective that the data set states; for `difference`, and where roots enter the score, the root too."""

    name: str = ""
    needs: tuple[str, ...] = ("perspective",)

    @property
    def versions(self) -> dict[str, str]:
        return {}

    def complete(self, queries: Sequence[Query]) -> list[Query]:
        for query in queries:
            for wanted in self.needs:
                if not getattr(query, wanted):
                    raise BadInputError(
                        f"The query '{query.text[:80]}' has no {wanted}, which this projection needs.",
                        hint="Ask from a data set that states it, or have it extracted: pap(perspective=llm).",
                    )
        return list(queries)


@dataclass(frozen=True)
class Extraction:
    """What a language model takes the query for (PIR, "Extraction"); where it finds no perspective, that is an error."""

    model: LanguageModel
    cache: CompletionCache

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def versions(self) -> dict[str, str]:
        return {self.model.name: self.model.version, EXTRACTION.name: EXTRACTION.version}

    def complete(self, queries: Sequence[Query]) -> list[Query]:
        found = extract(self.model, self.cache, [q.text for q in queries])
        missing = [q.text for q, one in zip(queries, found, strict=True) if not one.perspective]
        if missing:
            raise BadInputError(
                f"{self.name} found no perspective in {len(missing)} of {len(queries)} queries, such as '{missing[0][:80]}'.",
                hint="Name another model, or ask from a data set that states the perspective.",
            )
        return [q._replace(root=one.root, perspective=one.perspective) for q, one in zip(queries, found, strict=True)]


def perspective_source(written: Any, workspace: Workspace | None, *, rooted: bool) -> PerspectiveSource:
    """The source that `perspective=...` names, as the grammar read it; `rooted` projections use the root query as well."""
    if written is None:
        return FromData("", ("perspective", "root") if rooted else ("perspective",))
    if written == Call(DIFFERENCE):
        return FromData(DIFFERENCE, ("root",))
    if not isinstance(written, Call):
        raise BadInputError(
            f"'{show(written)}' is no source of a perspective.",
            hint=f"Write perspective=llm or perspective={DIFFERENCE}.",
        )
    if workspace is None:
        raise BadInputError("A language model needs a workspace to keep its answers in.", hint="Open one.")
    return Extraction(open_language_model(written, workspace), CompletionCache(workspace))
