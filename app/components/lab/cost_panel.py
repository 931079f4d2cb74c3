"""The Cost panel of the detector lab: seconds per 1,000 pairs on this machine, and tokens and dollars for paid models."""

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
from berdseye.evaluation.detection.throughput import load_throughput, model_use

_COMMAND = ("detector", "throughput")
_SECONDS = "5"


def cost_panel(detector: Detector) -> None:
    """Draw the table of all detectors, the button that measures the chosen one, and running measurements."""
    table = pd.DataFrame(
        [row for name in dict.fromkeys([detector.name, *detector_names(workspace())]) if (row := _row(name))]
    )
    st.dataframe(readable(table), hide_index=True, key="cost")
    downloads("cost", table)
    st.caption(
        "Seconds on this machine, from each detector's last measurement on pairs of 100 words, without loading. Tokens and "
        "dollars come from that measurement, otherwise from all calls of the model from this workspace so far."
    )
    running = any(job.runs for job in _jobs())
    paid_model = detector.name.startswith(("api(", "mean(", "stacked("))
    cap = float(workspace().settings["language_models"]["cap"])
    if paid_model:
        st.warning(
            "A measurement sends new pairs to the model for about five seconds, which may cost money. "
            + (f"The workspace's cap of ${cap:.2f} applies." if cap else "No cap is set."),
            icon=":material/payments:",
        )
    if st.button(
        f"Measure {escaped(detector.name)}",
        icon=":material/speed:",
        disabled=running,
        help="Takes about five seconds after loading, in a separate process.",
    ):
        start_job(workspace(), (*_COMMAND, "--detector", detector.name, "--seconds", _SECONDS), person=started_by())
        st.rerun()
    _under_way()


def _row(name: str) -> dict[str, object] | None:
    try:
        detector = parse_detector(name, workspace())
    except BerdseyeError:
        return None  # its weights are missing, which the Detectors page reports
    measured, usage = (
        load_throughput(workspace(), detector.name, detector.version),
        model_use(workspace(), detector.name),
    )
    row: dict[str, object] = {"detector": detector.name}
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
        throughput = measured.throughput
        return row | _money(
            throughput.tokens_per_1000, throughput.dollars_per_1000, unpriced=throughput.unpriced, source="measured"
        )
    if usage is not None:
        source = f"of {usage.calls:,} calls so far (${usage.dollars:.2f})"
        return row | _money(usage.tokens_per_1000, usage.dollars_per_1000, unpriced=usage.unpriced, source=source)
    is_api = detector.name.startswith("api(")
    return row | {
        "tokens per 1,000": None if is_api else 0,
        "dollars per 1,000": None if is_api else 0,
        "money by": "no calls yet" if is_api else "runs on this machine",
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
    """Draw the measurements that run or failed, refreshed every two seconds."""
    unfinished = [job for job in _jobs() if job.state != "done"]
    before = st.session_state.get("measuring")
    st.session_state["measuring"] = [job.id for job in unfinished if job.runs]
    if before and set(before) - set(st.session_state["measuring"]):
        st.rerun()  # one is done: the table has a new figure
    for job in unfinished:
        with st.container(border=True, key=f"measuring-{job.id}"):
            job_box(job, " ".join(job.arguments[2:4]), doing="is being measured")
