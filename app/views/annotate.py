"""Annotate: the pairs of a batch, or of chosen runs, one at a time and blind."""

import time
from importlib.resources import files

import streamlit as st

from annotation.batches import Batch, list_batches
from annotation.judgments import Annotator, Judgments, PairRecord, Verdict
from annotation.queue import pairs_of_runs
from app.components.batch_desk import batch_desk
from app.components.detector_line import detector_line
from app.components.pair_card import pair_card
from app.components.plain_text import escaped
from app.session import annotator, errors_in_place, judgments, workspace
from data.errors import BadInputError
from data.labels import LabelStore
from data.records import Pair
from data.runs import list_runs
from detectors.labelling import label
from detectors.registry import parse_detector
from detectors.trained import adopted_detector

LAST_HEIGHT = 96
CHOSEN_RUNS = "pairs of runs you choose"
KEYS: dict[str, tuple[Verdict, str]] = {
    "1": ("supports", ":material/check:"),
    "2": ("does not support", ":material/close:"),
    "3": ("unsure", ":material/question_mark:"),
}


@st.cache_data(max_entries=20, show_spinner="Gathering the pairs of these runs…")
def queue(runs: tuple[str, ...], created: tuple[str, ...], k: int) -> dict[str, PairRecord]:
    """The pairs of the runs; `created` makes runs made anew be read anew."""
    del created
    return pairs_of_runs(workspace(), runs, k)


def chosen_batch(person: Annotator) -> Batch | None:
    """The batch of the widget, the newest that is for this person first; None: pairs of runs, which are chosen next."""
    open_ones = {b.name: b for b in list_batches(judgments()) if b.is_open and b.admits(person)}
    if not open_ones:
        return None
    chosen = st.selectbox("What to judge", [*open_ones, CHOSEN_RUNS], key="batch", bind="query-params")
    return open_ones.get(chosen)


def chosen_queue() -> dict[str, PairRecord]:
    """The queue of the widgets."""
    runs = {r.name: r for r in list_runs(workspace())}
    if not runs:
        raise BadInputError("There is no run yet.", hint="Run a pipeline on the Runs page first.")
    left, right = st.columns([6, 1])
    chosen = left.multiselect("Runs to judge", list(runs), default=list(runs)[:2], key="runs", bind="query-params")
    k = right.number_input("Top k", 1, 100, 5, key="depth", bind="query-params")
    if not chosen:
        raise BadInputError("No run is chosen.", hint="Choose at least one above.")
    pairs = queue(tuple(chosen), tuple(runs[name].created for name in chosen), int(k))
    if not pairs:
        raise BadInputError(
            "These runs make no pair to judge.",
            hint="Their questions have no perspectives, or nothing was found; choose others.",
        )
    return pairs


def give(person: Annotator, key: str, record: PairRecord, verdict: Verdict) -> None:
    """Record a verdict with the comment that stands in the box; it is on disk when the next pair is drawn."""
    if key in judgments().touched(person):
        return  # a key hit twice before the next pair was drawn
    started = st.session_state.get("pair_shown", {}).get(key)
    judgments().add_pairs([record])
    judgments().judge(
        person,
        key,
        verdict,
        source="annotate",
        comment=st.session_state.get(f"comment-{key}") or "",
        shown=False,
        seconds=None if started is None else round(time.monotonic() - started, 2),
    )
    st.session_state["last_pair"] = (key, verdict)


def skip(person: Annotator, key: str, record: PairRecord) -> None:
    """Put the pair aside."""
    if key in judgments().touched(person):
        return
    judgments().add_pairs([record])
    judgments().skip(person, key, source="annotate", comment=st.session_state.get(f"comment-{key}") or "")
    st.session_state["last_pair"] = (key, "skipped")


def undo(person: Annotator) -> None:
    """Take back the last action; its pair comes first again."""
    pair = judgments().undo(person)
    st.session_state["last_pair"] = None
    st.session_state["first_pair"] = pair


def next_pair(held: Judgments, person: Annotator, pairs: dict[str, PairRecord]) -> tuple[str | None, int]:
    """The key of the pair to judge now (the one just undone, else the first untouched), and how many are done."""
    touched = held.touched(person)
    left = [key for key in pairs if key not in touched]
    undone = st.session_state.get("first_pair")
    return (undone if undone in left else left[0] if left else None), len(pairs) - len(left)


@st.fragment
def judge(person: Annotator, pairs: dict[str, PairRecord]) -> None:
    """The card and its keys; drawn again alone, at a fixed height, so that nothing jumps."""
    with errors_in_place():
        key, done = next_pair(judgments(), person, pairs)
        st.progress(done / len(pairs), text=f"{done} of {len(pairs)} pairs")
        card, side = st.columns([3, 1])
        with side:
            st.markdown((files("annotation") / "guidelines.md").read_text(encoding="utf-8"))
        with card:
            if key is None:
                st.success("Every pair of these runs is judged. Choose other runs, or a larger k.")
                st.button("Undo", icon=":material/undo:", shortcut="u", on_click=undo, args=(person,))
            else:
                pair_card(pairs[key])
                _keys(person, key, pairs[key])
            _last(pairs)


def _keys(person: Annotator, key: str, record: PairRecord) -> None:
    shown = st.session_state.setdefault("pair_shown", {})
    shown.setdefault(key, time.monotonic())
    with st.container(horizontal=True):
        for shortcut, (verdict, icon) in KEYS.items():
            st.button(
                verdict.capitalize(),
                icon=icon,
                shortcut=shortcut,
                key=f"give-{shortcut}",
                on_click=give,
                args=(person, key, record, verdict),
            )
        st.button("Skip", icon=":material/skip_next:", shortcut="x", on_click=skip, args=(person, key, record))
        st.button("Undo", icon=":material/undo:", shortcut="u", on_click=undo, args=(person,))
    st.text_input("Comment (kept with the verdict you give next)", key=f"comment-{key}", max_chars=2000)


def _last(pairs: dict[str, PairRecord]) -> None:
    with st.container(height=LAST_HEIGHT, border=False):
        last = st.session_state.get("last_pair")
        if not last or last[0] not in pairs:
            return
        key, said = last
        record, detector = pairs[key], parse_detector(adopted_detector(workspace()), workspace())
        p = float(label(LabelStore(workspace()), detector, [Pair(record.passage, record.perspective, record.title)])[0])
        opinion = "supports" if p >= detector.threshold else "does not support"
        st.caption(
            f"Before: “{escaped(record.perspective)}” — you: **{said}**; detector {detector.name}: **{opinion}** (P = {p:.2f})",
            help=detector_line(detector),
        )


def page() -> None:
    """The whole page."""
    person = annotator()
    if person is None:
        st.info("Enter your name in the sidebar to begin.", icon=":material/person:")
        return
    batch = chosen_batch(person)
    if batch is None:
        judge(person, chosen_queue())
    elif st.session_state.get("batch_paused") == batch.name:
        st.info("Your pair is free for others again.", icon=":material/pause:")
        st.button(
            "Go on", icon=":material/play_arrow:", key="go_on", on_click=st.session_state.pop, args=("batch_paused",)
        )
    else:
        batch_desk(person, batch)


with errors_in_place():
    page()
