"""One question in two rankings: how passages move between them, and both lists to read side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import streamlit as st

from berdseye.app.components.choices import passage_address
from berdseye.app.components.downloads import downloads
from berdseye.app.components.perspective_mark import perspective_mark
from berdseye.app.components.plain_text import escaped, highlighted
from berdseye.data.corpora import open_corpus
from berdseye.data.records import Passage, Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.charts import perspective_colour
from berdseye.evaluation.failures.contrast_charts import names_of, rank_moves, slope_chart
from berdseye.evaluation.labels.runs import LabelledRun
from berdseye.retrieval.lexical.query_words import matched_spans

SHOWN_AT_ONCE = 20


@dataclass(frozen=True)
class ListOf:
    """A side of the comparison: its letter, what it is of, and its labelled run with the row of the question in it."""

    letter: str
    dataset: str
    corpus: str
    pipeline: str
    labelled: LabelledRun
    row: int

    @property
    def question(self) -> Question:
        return self.labelled.questions[self.row]

    @property
    def depth(self) -> int:
        return int((self.labelled.ids[self.row] >= 0).sum())

    def passages(self, workspace: Workspace) -> list[Passage]:
        return open_corpus(workspace, self.corpus).passages(self.labelled.ids[self.row, : self.depth].tolist())


def two_lists(workspace: Workspace, first: ListOf, second: ListOf, k: int) -> None:
    """Draw the question's perspectives with their ranks, the moves, and the first `k` of both lists."""
    question = first.question
    st.markdown(_addresses(first, second, k))
    st.table(_ranks(first, second, k))
    held = [side.passages(workspace) for side in (first, second)]
    over_two = first.corpus != second.corpus
    names = [names_of(passages, by_text=over_two) for passages in held]
    moves = _with_titles(rank_moves(*names), held, names, (first, second))
    shown = min(k, SHOWN_AT_ONCE)
    if over_two:
        same = int(moves[["first", "second"]].notna().all(axis=1).sum())
        st.caption(
            f"Two corpora: a passage of one is found in the other by its text. {same} of the texts are in both lists."
        )
    if len(moves):
        chart = slope_chart(moves, shown)
        said = " ".join(
            f'<span style="color:{perspective_colour(place)}">●</span> P{place + 1}'
            for place in range(len(question.perspectives))
        )
        st.html(f'<div style="font-size:0.85rem" aria-hidden="true">{said}</div>')
        st.altair_chart(chart, key="slope", alt=f"Ranks in {first.letter} and {second.letter}")
        st.caption(
            "A line is a passage that both lists have: green where it rises, purple where it falls, dashed where one has it "
            f"below {shown}. An open ring is a passage that only this list has. Dots are perspectives that it supports."
        )
        with st.expander(f"The {len(moves)} passages of both lists as a table"):
            told = moves.drop(columns="passage").assign(
                supports=[", ".join(f"P{place + 1}" for place in places) for places in moves["supports"]]
            )
            told = told.rename(columns={"first": first.letter, "second": second.letter})
            st.dataframe(told, hide_index=True, key="moves")
            downloads(f"moves-{question.id}", told, chart)
    _side_by_side((first, second), held, names, shown)


def _addresses(first: ListOf, second: ListOf, k: int) -> str:
    corpora = list(dict.fromkeys((first.corpus, second.corpus)))
    pipelines = list(dict.fromkeys((first.pipeline, second.pipeline)))
    query = [("set", first.dataset), ("question", first.question.id), ("k", str(min(k, SHOWN_AT_ONCE)))]
    query += [("corpora", c) for c in corpora] + [("pipelines", p) for p in pipelines]
    return f"[Open in Explore, to correct labels](./?{urlencode(query)})"


def _ranks(first: ListOf, second: ListOf, k: int) -> pd.DataFrame:
    """The perspectives of either side with the rank that covers each."""
    rows: dict[str, dict[str, str]] = {}
    for side in (first, second):
        ranks = side.labelled.first_ranks()[side.row]
        for place, perspective in enumerate(side.question.perspectives):
            rank = int(ranks[place])
            told = "–" if rank <= 0 else f"**{rank}**" if rank <= k else str(rank)
            rows.setdefault(perspective.text, {})[side.letter] = told
    frame = pd.DataFrame(
        [
            {"first": v.get(first.letter, "not asked"), "second": v.get(second.letter, "not asked")}
            for v in rows.values()
        ],
        index=[f"{perspective_mark(place)} {escaped(text)}" for place, text in enumerate(rows)],
    )
    return frame.rename(columns={"first": f"rank in {first.letter}", "second": f"rank in {second.letter}"})


def _with_titles(
    moves: pd.DataFrame,
    held: Sequence[Sequence[Passage]],
    names: Sequence[Sequence[object]],
    sides: tuple[ListOf, ListOf],
) -> pd.DataFrame:
    titles: dict[object, str] = {}
    supports: dict[object, tuple[int, ...]] = {}
    for passages, known, side in zip(held, names, sides, strict=True):
        labels = side.labelled.labels[side.row]
        for rank, (passage, name) in enumerate(zip(passages, known, strict=True)):
            titles.setdefault(name, passage.title or " ".join(passage.text.split()[:8]))
            supports.setdefault(name, tuple(np.flatnonzero(labels[rank] == 1).tolist()))
    found = moves.assign(title=[titles[name] for name in moves["passage"]])
    found["supports"] = pd.Series([supports[name] for name in moves["passage"]], index=found.index, dtype=object)
    return found


def _side_by_side(
    sides: tuple[ListOf, ListOf],
    held: Sequence[Sequence[Passage]],
    names: Sequence[Sequence[object]],
    shown: int,
) -> None:
    for column, side, passages, known, others, other in zip(
        st.columns(2), sides, held, names, reversed(names), reversed(sides), strict=True
    ):
        places = {name: rank for rank, name in enumerate(others, start=1)}
        with column:
            st.markdown(f"##### {side.letter}: {escaped(side.corpus)} · {escaped(side.pipeline)}")
            if not passages:
                st.info("Nothing was found for this question.")
            for rank, (passage, name) in enumerate(zip(passages[:shown], known, strict=False)):
                where = places.get(name)
                mark = (
                    f":orange-badge[only in {side.letter}]"
                    if where is None
                    else f":gray-badge[{other.letter}: rank {where}]"
                )
                _card(side, rank, passage, mark)


def _card(side: ListOf, rank: int, passage: Passage, mark: str) -> None:
    labels = side.labelled.labels[side.row, rank]
    said = " ".join(perspective_mark(place) for place in np.flatnonzero(labels == 1).tolist())
    unsaid = int(np.isnan(labels[: len(side.question.perspectives)]).sum())
    with st.container(border=True):
        title = f"[{escaped(passage.title) or 'untitled'}]({passage_address(side.corpus, passage.id)})"
        st.markdown(f"**{rank + 1}. {title}** {mark} {said}")
        if unsaid:
            st.caption(f"nobody said of {unsaid} of the perspectives")
        st.markdown(highlighted(passage.text, matched_spans(passage.text, side.question.text)))
