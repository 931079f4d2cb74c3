"""Choosing the weight of MMR on a dev split: topics whose rankings turn at weights that were worked out beforehand."""

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.data.corpora import Corpus
from berdseye.data.corpora.tuned_weights import TunedWeight, read_tuned, write_tuned
from berdseye.data.datasets.stored import GOLD, save_dataset
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.labels import LabelStore
from berdseye.data.records import Pair, Perspective, Question
from berdseye.data.runs.stored import load_run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import label_versions, parse_label_source
from berdseye.evaluation.measures import Definition, Measure, parse_measure
from berdseye.evaluation.scores.tuning import stored_weight, tune
from berdseye.retrieval.pipeline import search
from berdseye.retrieval.pipeline_registry import parse_pipeline
from berdseye.retrieval.rerank.mmr import GRID
from berdseye.retrieval.running import run_pipeline
from tests.retrieval.corpus_files import corpus_of
from tests.retrieval.made_encoders import TableEncoder

PIPELINE = "dense(table) >> mmr(tuned,embedder=alike)"
PERSPECTIVES = (Perspective("Yes.", "supporting"), Perspective("No.", "opposing"))


class Topic(NamedTuple):
    """Three passages of relevance 1, `second` and `third`; the first supports one side, the third (or the second, where
    it is `plain`) the other. The cosine of the first two is `alike`, that of the third and the others is 0.

    MMR takes the third as the second where w * third > w * second - (1 - w) * alike, below `turning`.
    """

    second: float
    third: float
    alike: float
    plain: bool = False

    @property
    def turning(self) -> float:
        return self.alike / (self.alike + self.second - self.third)

    def covered(self, weight: float) -> bool:
        return (weight < self.turning) != self.plain


TOPICS = {
    "cars": Topic(0.9, 0.1, 0.9),  # turns at 0.53: both sides are there with weight 0.5 alone
    "taxes": Topic(0.9, 0.8, 0.96),  # 0.906
    "trams": Topic(0.9, 0.88, 0.9),  # 0.978
    "votes": Topic(0.9, 0.7, 0.8, plain=True),  # 0.8: both sides are there from 0.9 on
    "zoos": Topic(0.9, 0.7, 0.8, plain=True),
}
DATASETS = {"one": ["cars", "taxes", "votes"], "small": ["cars"], "large": ["votes", "zoos", "trams"]}


def ranking_encoder() -> TableEncoder:
    """A direction a topic."""
    axes = dict(zip(TOPICS, np.eye(len(TOPICS)), strict=True))
    table = {f"{topic}?": axis.tolist() for topic, axis in axes.items()}
    for name, topic in TOPICS.items():
        relevances = (1, topic.second, topic.third)
        table |= {f"{name} {n}": (relevance * axes[name]).tolist() for n, relevance in enumerate(relevances)}
    return TableEncoder(table, "dot")


def likeness_encoder() -> TableEncoder:
    table = {}
    for name, topic in TOPICS.items():
        second = [topic.alike, sqrt(1 - topic.alike**2), 0]
        table |= {f"{name} 0": [1, 0, 0], f"{name} 1": second, f"{name} 2": [0, 0, 1]}
    return TableEncoder(table)


@pytest.fixture
def corpus(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """The passages, the data sets, and gold labels of all pairs."""
    monkeypatch.setattr("berdseye.retrieval.dense.ranker.open_encoder", lambda _: ranking_encoder())
    monkeypatch.setattr("berdseye.retrieval.rerank.mmr.open_encoder", lambda _: likeness_encoder())
    for name, topics in DATASETS.items():
        save_dataset(workspace, name, [Question(f"{name} {t}", name, f"{t}?", PERSPECTIVES) for t in topics])
    says = {}
    for name, topic in TOPICS.items():
        supports = {(0, 0), (1 if topic.plain else 2, 1)}
        for n in range(3):
            for side, perspective in enumerate(PERSPECTIVES):
                # A pair is its two texts, and passages name their topic.
                says[Pair(f"{name} {n}", perspective.text).key] = float((n, side) in supports)
    LabelStore(workspace).put(GOLD, "made", list(says), list(says.values()))
    return corpus_of(workspace, [f"{name} {n}" for name in TOPICS for n in range(3)])


@pytest.fixture
def judgments(workspace: Workspace) -> Iterator[Judgments]:
    opened = Judgments.open(f"sqlite:///{workspace.folder / 'judgments.db'}")
    yield opened
    opened.engine.dispose()


def tuned_on(
    workspace: Workspace, judgments: Judgments, *datasets: str, pipeline: str = PIPELINE, measure: str = "MRecall@2"
) -> TunedWeight:
    return tune(workspace, judgments, datasets, "c", pipeline, parse_label_source(GOLD), parse_measure(measure))


@pytest.mark.parametrize(
    ("datasets", "best", "scores"),
    [
        # cars + taxes at 0.5, taxes + votes at 0.9: of equals the one nearer to 1.
        (["one"], 0.9, [2 / 3, 1 / 3, 2 / 3, 1 / 3, 1 / 3]),
        (["small"], 0.5, [1, 0, 0, 0, 0]),
        (["large"], 0.95, [1 / 3, 1 / 3, 1, 1, 2 / 3]),
        # Data sets count alike, however many questions they have; over all questions 0.95 would be best.
        (["small", "large"], 0.5, [4 / 6, 1 / 6, 1 / 2, 1 / 2, 1 / 3]),
    ],
)
def test_the_best_weight_is_chosen_and_kept(
    workspace: Workspace,
    corpus: Corpus,
    judgments: Judgments,
    datasets: list[str],
    best: float,
    scores: list[float],
) -> None:
    tuned = tuned_on(workspace, judgments, *datasets)
    assert tuned.weight == best
    assert [float(w) for w in tuned.scores] == list(GRID)
    assert list(tuned.scores.values()) == pytest.approx(scores)
    by_hand = [np.mean([np.mean([TOPICS[t].covered(w) for t in DATASETS[d]]) for d in datasets]) for w in GRID]
    assert scores == pytest.approx(by_hand)
    assert (tuned.datasets, tuned.measure, tuned.labels) == (datasets, "MRecall@2", GOLD)
    assert tuned.corpus_hash == corpus.manifest.hash
    assert read_tuned(corpus.folder) == {PIPELINE: tuned}


def test_afterwards_the_name_means_the_weight(workspace: Workspace, corpus: Corpus, judgments: Judgments) -> None:
    with pytest.raises(BadInputError, match=r"No weight was tuned for 'dense\(table\) >> mmr\(tuned,embedder=alike\)'"):
        run_pipeline(workspace, "one", "c", PIPELINE, 2)
    tuned_on(workspace, judgments, "one")
    chosen = search(corpus, parse_pipeline(PIPELINE), ["taxes?", "votes?"], 2)
    given = search(corpus, parse_pipeline("dense(table) >> mmr(0.9,embedder=alike)"), ["taxes?", "votes?"], 2)
    assert np.array_equal(chosen[0], given[0])
    # Passages of a topic follow one another: of taxes 3, 4, 5, of votes 9, 10, 11.
    assert chosen[0].tolist() == [[3, 5], [9, 10]]
    manifest = run_pipeline(workspace, "one", "c", PIPELINE, 2)
    assert manifest.pipeline == "dense(table) >> mmr(0.9,embedder=alike)"
    assert load_run(workspace, manifest.name).ids[1:].tolist() == [[3, 5], [9, 10]]


def test_a_weight_for_scores_that_were_divided_in_another_way_is_refused(
    workspace: Workspace, corpus: Corpus, judgments: Judgments
) -> None:
    tuned = tuned_on(workspace, judgments, "one")
    for versions in ({k: v for k, v in tuned.versions.items() if k != "mmr"}, {}):
        write_tuned(corpus.folder, PIPELINE, replace(tuned, versions=versions))
        with pytest.raises(BadInputError, match=r"tuned by an older version.*Run `berdseye tune` again"):
            search(corpus, parse_pipeline(PIPELINE), ["taxes?"], 2)


def test_a_stored_weight_holds_until_something_it_depends_on_changes(
    workspace: Workspace, corpus: Corpus, judgments: Judgments
) -> None:
    del corpus
    measure = parse_measure("MRecall@2")

    def stored(source: str = GOLD, dataset: str = "one") -> TunedWeight | None:
        return stored_weight(workspace, judgments, [dataset], "c", PIPELINE, parse_label_source(source), measure)

    assert stored() is None
    tuned = tuned_on(workspace, judgments, "one")
    assert stored() == tuned
    assert stored(dataset="small") is None
    pair = PairRecord("one", "one cars", "cars?", "Yes.", "supporting", "c", "", "cars 0")
    judgments.add_pairs([pair])
    judgments.judge(judgments.sign_in("ann"), pair.key, "supports", source="annotate")
    assert stored() == tuned  # gold labels are nobody's judgments
    LabelStore(workspace).put(GOLD, "made", [pair.key], [0.0])
    assert stored() is None
    tuned = tuned_on(workspace, judgments, "one")
    save_dataset(workspace, "one", [Question("one cars", "one", "cars?", PERSPECTIVES)])
    assert stored() is None
    people = parse_label_source("human>gold")
    before = label_versions(workspace, judgments, people)
    judgments.judge(judgments.sign_in("bob"), pair.key, "supports", source="annotate")
    assert label_versions(workspace, judgments, people) != before


def test_another_pipeline_is_tuned_by_itself(workspace: Workspace, corpus: Corpus, judgments: Judgments) -> None:
    tuned_on(workspace, judgments, "one")
    for other in ("dense(table)%50 >> mmr(tuned,embedder=alike)", "dense(table) >> mmr(tuned)"):
        with pytest.raises(BadInputError, match="No weight was tuned"):
            search(corpus, parse_pipeline(other), ["cars?"], 2)
    tuned_on(workspace, judgments, "small")
    tuned_on(workspace, judgments, "large", pipeline="dense(table)%50 >> mmr(tuned,embedder=alike)")
    assert {name: t.weight for name, t in read_tuned(corpus.folder).items()} == {
        PIPELINE: 0.5,
        "dense(table)%50 >> mmr(tuned,embedder=alike)": 0.95,
    }


def test_a_stage_that_follows_does_not_matter(workspace: Workspace, corpus: Corpus, judgments: Judgments) -> None:
    """What is tuned is the pipeline up to the stage; where two stand, the first is tuned first."""
    tuned_on(workspace, judgments, "one")
    twice = f"{PIPELINE} >> mmr(tuned,embedder=alike)"
    assert str(parse_pipeline(f"{PIPELINE} >> mmr(1)").tuned(corpus)) == (
        "dense(table) >> mmr(0.9,embedder=alike) >> mmr(1)"
    )
    second = tuned_on(workspace, judgments, "one", pipeline=twice)
    assert str(parse_pipeline(twice).tuned(corpus)) == (
        f"dense(table) >> mmr(0.9,embedder=alike) >> mmr({second.weight:g},embedder=alike)"
    )


def test_means_that_differ_by_rounding_are_equal(workspace: Workspace, corpus: Corpus, judgments: Judgments) -> None:
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1."""
    values = iter([[0.1, 0.2, 0.3]] * 4 + [[0.3, 0.2, 0.1]])
    measure = Measure("Made", 2, Definition(lambda *_: np.array(next(values))))
    tuned = tune(workspace, judgments, ["one"], "c", PIPELINE, parse_label_source(GOLD), measure)
    assert len(set(tuned.scores.values())) == 2
    assert tuned.weight == read_tuned(corpus.folder)[PIPELINE].weight == 0.99


@pytest.mark.parametrize("pipeline", ["dense(table)", "dense(table) >> mmr(0.5)", f"{PIPELINE} >> mmr(0.5)"])
def test_a_pipeline_must_end_in_what_is_tuned(
    workspace: Workspace, corpus: Corpus, judgments: Judgments, pipeline: str
) -> None:
    with pytest.raises(BadInputError, match=r"does not end in mmr\(tuned\)"):
        tuned_on(workspace, judgments, "one", pipeline=pipeline)
    assert read_tuned(corpus.folder) == {}


def test_names_that_there_are_not(workspace: Workspace, corpus: Corpus, judgments: Judgments) -> None:
    del corpus
    with pytest.raises(UnknownNameError, match="Unknown retriever 'dens'"):
        tuned_on(workspace, judgments, "one", pipeline="dens >> mmr(tuned)")
    with pytest.raises(UnknownNameError, match="Unknown data set 'none'"):
        tuned_on(workspace, judgments, "none")


def test_questions_without_perspectives_say_nothing(workspace: Workspace, corpus: Corpus, judgments: Judgments) -> None:
    save_dataset(workspace, "bare", [Question("bare", "bare", "cars?")])
    with pytest.raises(BadInputError, match="No question has a perspective"):
        tuned_on(workspace, judgments, "bare")
    assert read_tuned(corpus.folder) == {}
