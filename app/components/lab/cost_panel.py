"""What a thousand pairs cost: seconds on this machine, and tokens and money where a model is asked for money."""

import pandas as pd
import streamlit as st

from berdseye.app.access.session import started_by, workspace
from berdseye.app.components.downloads import downloads
from berdseye.app.components.job_box import job_box
from berdseye.app.components.plain_text import escaped
from berdseye.app.jobs.running import Job, list_jobs, start_job
from berdseye.data.errors import BerdseyeError
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.protocol import Detector
from berdseye.detectors.trained import detector_names
from berdseye.evaluation.detection.readable import readable
from berdseye.evaluation.detection.throughput import kept, paid

_COMMAND = ("detector", "throughput")
_SECONDS = "5"


def cost_panel(detector: Detector) -> None:
    """A table of all detectors, measuring the chosen one, and what is under way."""
    table = pd.DataFrame(
        [row for name in dict.fromkeys([detector.name, *detector_names(workspace())]) if (row := _row(name))]
    )
    st.dataframe(readable(table), hide_index=True, key="cost")
    downloads("cost", table)
    st.caption(
        "Seconds on this machine, by the last measurement of each on pairs of 100 words, loading not counted. Tokens and money "
        "are those of the measurement, or else what the model was asked from this workspace so far, for whatever purpose."
    )
    running = any(job.runs for job in _jobs())
    asks = detector.name.startswith(("api(", "mean(", "stacked("))
    cap = float(workspace().settings["language_models"]["cap"])
    if asks:
        st.warning(
            "Measuring asks the model new pairs for about five seconds, which may cost money"
            + (f"; the cap of ${cap:.2f} on this workspace holds." if cap else "; no cap is set."),
            icon=":material/payments:",
        )
    if st.button(
        f"Measure {escaped(detector.name)}",
        icon=":material/speed:",
        disabled=running,
        help="About five seconds in a process of its own, after loading.",
    ):
        start_job(workspace(), (*_COMMAND, "--detector", detector.name, "--seconds", _SECONDS), person=started_by())
        st.rerun()
    _under_way()


def _row(name: str) -> dict[str, object] | None:
    try:
        found = parse_detector(name, workspace())
    except BerdseyeError:
        return None  # its weights are missing, which the Detectors page says
    measured, spent = kept(workspace(), found.name, found.version), paid(workspace(), found.name)
    row: dict[str, object] = {"detector": found.name}
    if measured is None:
        row |= {"seconds per 1,000 pairs": None, "seconds to load": None, "memory (MiB)": None}
        row |= {"measured": "not yet", "cores": None}
    else:
        row |= {
            "seconds per 1,000 pairs": measured.seconds_per_1000,
            "seconds to load": measured.throughput.load_seconds,
            "memory (MiB)": measured.throughput.memory_mib,
            "measured": measured.at[:10],
            "cores": measured.throughput.cores,
        }
    if measured is not None and measured.throughput.tokens_per_1000 == measured.throughput.tokens_per_1000:
        told = measured.throughput
        return row | _money(told.tokens_per_1000, told.dollars_per_1000, unpriced=told.unpriced, source="measured")
    if spent is not None:
        source = f"of {spent.calls:,} calls so far (${spent.dollars:.2f})"
        return row | _money(spent.tokens_per_1000, spent.dollars_per_1000, unpriced=spent.unpriced, source=source)
    asked = found.name.startswith("api(")
    return row | {
        "tokens per 1,000": None if asked else 0,
        "dollars per 1,000": None if asked else 0,
        "money by": "asked nothing yet" if asked else "runs on this machine",
    }


def _money(tokens: float, dollars: float, *, unpriced: bool, source: str) -> dict[str, object]:
    return {
        "tokens per 1,000": tokens,
        "dollars per 1,000": dollars,
        "money by": f"{source}; some calls have no known price" if unpriced else source,
    }


def _jobs() -> list[Job]:
    return [job for job in list_jobs(workspace()) if job.arguments[:2] == _COMMAND]


@st.fragment(run_every=2)
def _under_way() -> None:
    """Measurements that run or failed, drawn anew every two seconds."""
    held = [job for job in _jobs() if job.state != "done"]
    before = st.session_state.get("measuring")
    st.session_state["measuring"] = [job.id for job in held if job.runs]
    if before and set(before) - set(st.session_state["measuring"]):
        st.rerun()  # one is done: the table has a new figure
    for job in held:
        with st.container(border=True, key=f"measuring-{job.id}"):
            job_box(job, " ".join(job.arguments[2:4]), doing="is being measured")
