"""One question in two rankings: how passages move between them, and both rankings side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import streamlit as st

from berdseye.app.components.card_focus import CARD
from berdseye.app.components.choices import passage_address
from berdseye.app.components.downloads import downloads
from berdseye.app.components.judging import judging_line, offer_people_first
from berdseye.app.components.keys import COMPARE
from berdseye.app.components.label_chips import LabelledPassage, Standing, label_chips, standing_of
from berdseye.app.components.perspective_mark import CHIP, perspective_mark
from berdseye.app.components.plain_text import escaped, highlighted
from berdseye.data.corpora import open_corpus
from berdseye.data.records import Passage, Question
from berdseye.data.workspace import Workspace
from berdseye.evaluation.charts import perspective_colour
from berdseye.evaluation.failures.contrast_charts import names_of, rank_moves, slope_chart
from berdseye.evaluation.labels.labelled_runs import LabelledRun
from berdseye.retrieval.lexical.query_words import matched_spans

SHOWN_AT_ONCE = 20


@dataclass(frozen=True)
class ListOf:
    """A side of the comparison: its letter, data set, corpus, pipeline and label source, and its labelled run with the question's
    row."""

    letter: str
    dataset: str
    corpus: str
    pipeline: str
    source: str
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

    def labelled_passage(self, rank: int, passage: Passage) -> LabelledPassage:
        """Return the passage at `rank` (from 0) with its labels."""
        labels = self.labelled.labels[self.row, rank, : len(self.question.perspectives)].tolist()
        return LabelledPassage(self.question, self.corpus, passage, labels, self.source)


def two_lists(workspace: Workspace, first: ListOf, second: ListOf, k: int) -> None:
    """Draw the question's perspectives with their ranks, the chart of the moves, and the first `k` passages of both
    rankings."""
    question = first.question
    st.markdown(_addresses(first, second, k))
    st.table(_ranks(first, second, k))
    passages_of_sides = [side.passages(workspace) for side in (first, second)]
    over_two = first.corpus != second.corpus
    names = [names_of(passages, by_text=over_two) for passages in passages_of_sides]
    moves = _with_titles(rank_moves(*names), passages_of_sides, names, (first, second))
    shown = min(k, SHOWN_AT_ONCE)
    if over_two:
        in_both = int(moves[["first", "second"]].notna().all(axis=1).sum())
        st.caption(f"The corpora differ, so passages are matched by their text. {in_both} texts are in both rankings.")
    if len(moves):
        chart = slope_chart(moves, shown)
        legend = " ".join(
            f'<span style="color:{perspective_colour(place)}">●</span> P{place + 1}'
            for place in range(len(question.perspectives))
        )
        st.html(f'<div style="font-size:0.85rem" aria-hidden="true">{legend}</div>')
        st.altair_chart(chart, key="slope", alt=f"Ranks in {first.letter} and {second.letter}")
        st.caption(
            "A line is a passage in both rankings: green if it rises, purple if it falls, dashed if one ranking has it below "
            f"{shown}. An open ring is a passage that only this ranking has. Dots are the perspectives that it supports."
        )
        with st.expander(f"The {len(moves)} passages of both rankings as a table"):
            moves_table = moves.drop(columns="passage").assign(
                supports=[", ".join(f"P{place + 1}" for place in places) for places in moves["supports"]]
            )
            moves_table = moves_table.rename(columns={"first": first.letter, "second": second.letter})
            st.dataframe(moves_table, hide_index=True, key="moves")
            downloads(f"moves-{question.id}", moves_table, chart)
    _side_by_side((first, second), passages_of_sides, names, shown)


def _addresses(first: ListOf, second: ListOf, k: int) -> str:
    corpora = list(dict.fromkeys((first.corpus, second.corpus)))
    pipelines = list(dict.fromkeys((first.pipeline, second.pipeline)))
    query = [("set", first.dataset), ("question", first.question.id), ("k", str(min(k, SHOWN_AT_ONCE)))]
    query += [("corpora", c) for c in corpora] + [("pipelines", p) for p in pipelines]
    return f"[Open in Explore](explore?{urlencode(query)})"


def _ranks(first: ListOf, second: ListOf, k: int) -> pd.DataFrame:
    """Return the perspectives of either side with the rank that covers each."""
    rows: dict[str, dict[str, str]] = {}
    for side in (first, second):
        ranks = side.labelled.first_ranks()[side.row]
        for place, perspective in enumerate(side.question.perspectives):
            rank = int(ranks[place])
            shown_rank = "–" if rank <= 0 else f"**{rank}**" if rank <= k else str(rank)
            rows.setdefault(perspective.text, {})[side.letter] = shown_rank
    frame = pd.DataFrame(
        [{"first": v.get(first.letter, "absent"), "second": v.get(second.letter, "absent")} for v in rows.values()],
        index=[f"{perspective_mark(place)} {escaped(text)}" for place, text in enumerate(rows)],
    )
    return frame.rename(columns={"first": f"rank in {first.letter}", "second": f"rank in {second.letter}"})


def _with_titles(
    moves: pd.DataFrame,
    passages_of_sides: Sequence[Sequence[Passage]],
    names: Sequence[Sequence[object]],
    sides: tuple[ListOf, ListOf],
) -> pd.DataFrame:
    titles: dict[object, str] = {}
    supports: dict[object, tuple[int, ...]] = {}
    for passages, names_of_side, side in zip(passages_of_sides, names, sides, strict=True):
        labels = side.labelled.labels[side.row]
        for rank, (passage, name) in enumerate(zip(passages, names_of_side, strict=True)):
            titles.setdefault(name, passage.title or " ".join(passage.text.split()[:8]))
            supports.setdefault(name, tuple(np.flatnonzero(labels[rank] == 1).tolist()))
    with_titles = moves.assign(title=[titles[name] for name in moves["passage"]])
    with_titles["supports"] = pd.Series(
        [supports[name] for name in moves["passage"]], index=with_titles.index, dtype=object
    )
    return with_titles


def _side_by_side(
    sides: tuple[ListOf, ListOf],
    passages_of_sides: Sequence[Sequence[Passage]],
    names: Sequence[Sequence[object]],
    shown: int,
) -> None:
    tops = [
        [side.labelled_passage(rank, passage) for rank, passage in enumerate(passages[:shown])]
        for side, passages in zip(sides, passages_of_sides, strict=True)
    ]
    view = " ".join(
        [sides[0].question.id, *(part for s in sides for part in (s.dataset, s.corpus, s.pipeline)), str(shown)]
    )
    judging_line(
        COMPARE,
        view,
        answers=CHIP,
        idle="**1**–**9** flip a label of the focused passage.",
        perspectives=sides[0].question.perspectives,
    )
    first = sides[0].source
    offer_people_first(
        first, f"Labels of A are from {escaped(first)} only: your judgments do not change them.", key="labels_a"
    )
    standing = standing_of([each for top in tops for each in top])
    number = 0
    for column, side, top, names_of_side, others, other in zip(
        st.columns(2), sides, tops, names, reversed(names), reversed(sides), strict=True
    ):
        places = {name: rank for rank, name in enumerate(others, start=1)}
        with column:
            st.markdown(f"##### {side.letter}: {escaped(side.corpus)} · {escaped(side.pipeline)}")
            if not top:
                st.info("The run retrieved no passage for this question.")
            for rank, (passage, name) in enumerate(zip(top, names_of_side, strict=False), start=1):
                where = places.get(name)
                mark = (
                    f":orange-badge[only in {side.letter}]"
                    if where is None
                    else f":gray-badge[{other.letter}: rank {where}]"
                )
                _card(passage, rank, mark, number, standing)
                number += 1


def _card(shown: LabelledPassage, rank: int, mark: str, number: int, standing: Standing) -> None:
    passage = shown.passage
    with st.container(border=True, key=f"{CARD}{number}"):
        title = f"[{escaped(passage.title) or 'untitled'}]({passage_address(shown.corpus, passage.id)})"
        st.markdown(f"**{rank}. {title}** {mark}")
        st.markdown(highlighted(passage.text, matched_spans(passage.text, shown.question.text)))
        label_chips(shown, number, standing, "compare")
