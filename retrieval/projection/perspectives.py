"""Sources of a projection's perspective: the data set, the difference q - r, or a language model that reads the query."""

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
    """A source of perspectives; `name` is NAME in `pap(perspective=NAME)`, empty for the default source."""

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> dict[str, str]: ...

    def complete(self, queries: Sequence[Query]) -> list[Query]:
        """The queries with the roots and perspectives of this source."""
        ...


@dataclass(frozen=True)
class FromData:
    """The perspective in the data set, and its root for `difference` and for projections that use the root."""

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
                        f"The query '{query.text[:80]}' has no {wanted}, which this projection requires.",
                        hint=f"Use a data set with a {wanted}, or extract it with pap(perspective=llm).",
                    )
        return list(queries)


@dataclass(frozen=True)
class Extraction:
    """Root and perspective extracted from the query by a language model (PIR, "Extraction").

    Raises `BadInputError` if the model finds no perspective in a query.
    """

    model: LanguageModel
    cache: CompletionCache

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def versions(self) -> dict[str, str]:
        return {self.model.name: self.model.version, EXTRACTION.name: EXTRACTION.version}

    def complete(self, queries: Sequence[Query]) -> list[Query]:
        extracted = extract(self.model, self.cache, [q.text for q in queries])
        missing = [q.text for q, one in zip(queries, extracted, strict=True) if not one.perspective]
        if missing:
            raise BadInputError(
                f"{self.name} found no perspective in {len(missing)} of {len(queries)} queries, such as '{missing[0][:80]}'.",
                hint="Use another model, or a data set with perspectives.",
            )
        return [
            q._replace(root=one.root, perspective=one.perspective) for q, one in zip(queries, extracted, strict=True)
        ]


def perspective_source(written: Any, workspace: Workspace | None, *, rooted: bool) -> PerspectiveSource:
    """The source in `perspective=...`, as parsed by the grammar; `rooted` projections use the root query as well."""
    if written is None:
        return FromData("", ("perspective", "root") if rooted else ("perspective",))
    if written == Call(DIFFERENCE):
        return FromData(DIFFERENCE, ("root",))
    if not isinstance(written, Call):
        raise BadInputError(
            f"'{show(written)}' is not a source of perspectives.",
            hint=f"Write perspective=llm or perspective={DIFFERENCE}.",
        )
    if workspace is None:
        raise BadInputError(
            "A language model requires a workspace, which stores its answers.", hint="Open a workspace."
        )
    return Extraction(open_language_model(written, workspace), CompletionCache(workspace))
