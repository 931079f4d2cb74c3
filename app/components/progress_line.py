"""How far a person is in a queue, and at which pace today."""

import streamlit as st

from berdseye.annotation.judgments import Annotator
from berdseye.annotation.pace import Pace, first_event_since, midnight, pace
from berdseye.app.components.working_time import WorkingTime
from berdseye.app.session import judgments, workspace


@st.cache_data(max_entries=20, show_spinner=False)
def _first_event(url: str, day: str) -> int:
    del url
    return first_event_since(judgments(), day)


def progress_line(person: Annotator, done: int, every: int) -> None:
    """The bar with both."""
    day = midnight()
    today = pace(judgments(), person, day, _first_event(workspace().judgments_url, day))
    st.progress(done / every, text=" · ".join([f"{done} of {every} pairs", *pace_words(today)]))


def pace_words(today: Pace) -> list[str]:
    """What is known of a day, in words."""
    words = [f"{today.pairs} today"]
    if today.median_seconds is not None:
        words.append(f"median {today.median_seconds:.1f} s")
    if today.an_hour is not None and today.pairs > 1:
        words.append(f"about {today.an_hour:,.0f} an hour")
    return words


def break_reminder(clock: WorkingTime, after: float) -> None:
    """A gentle word once someone has judged for `after` minutes; 0: never."""
    minutes = clock.minutes()
    if 0 < after <= minutes:
        st.info(f"You have judged for {minutes:.0f} minutes: time for a break? Press P.", icon=":material/coffee:")
