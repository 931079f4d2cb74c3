"""A pipeline: a ranker and the stages that follow it."""

from dataclasses import dataclass, replace

from berdseye.data.corpora import Corpus
from berdseye.data.errors import BadInputError
from berdseye.data.tuned_weights import read_tuned
from berdseye.retrieval.protocol import Ranker, Stage
from berdseye.retrieval.rerank.mmr import MMR

DEFAULT_DEPTH = 100


@dataclass(frozen=True)
class Pipeline:
    """A ranker and what follows it; `depth` is how many of its passages go on to the stages."""

    ranker: Ranker
    stages: tuple[Stage, ...] = ()
    depth: int = DEFAULT_DEPTH

    def __str__(self) -> str:
        shown = f"%{self.depth}" if self.stages and self.depth != DEFAULT_DEPTH else ""
        return " >> ".join([self.ranker.name + shown, *(s.name for s in self.stages)])

    @property
    def versions(self) -> dict[str, str]:
        """Versions of all that the rankings depend on and the name does not say."""
        return {name: version for part in (self.ranker, *self.stages) for name, version in part.versions.items()}

    def tuned(self, corpus: Corpus) -> "Pipeline":
        """The same with the weight that was chosen for this corpus wherever it says `mmr(tuned)`."""
        stages: list[Stage] = []
        for stage in self.stages:
            if isinstance(stage, MMR) and stage.weight is None:
                weights = read_tuned(corpus.folder)
                asked = str(replace(self, stages=(*stages, stage)))
                if asked not in weights:
                    raise BadInputError(
                        f"No weight was tuned for '{asked}' over '{corpus.name}'.",
                        hint="Run `berdseye tune`, or give one: mmr(0.95).",
                    )
                stage = replace(stage, weight=weights[asked].weight)
            stages.append(stage)
        return replace(self, stages=tuple(stages))
