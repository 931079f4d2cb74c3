"""A new construction on the Build page: its kind, its source, model and options, what it would ask at most, and its start."""

import re
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from berdseye.app.access.session import started_by, workspace
from berdseye.app.components.choices import selectbox_by_id
from berdseye.app.components.data.sources import PATH, UPLOAD, chosen_name, chosen_way, name_of_file
from berdseye.app.components.plain_text import escaped, with_code
from berdseye.app.jobs.running import start_job
from berdseye.data.errors import BadInputError
from berdseye.data.uploads import keep_upload
from berdseye.evaluation.construction.kinds import KINDS
from berdseye.evaluation.construction.opening import begin, list_constructions
from berdseye.evaluation.construction.running import expected
from berdseye.evaluation.construction.steps import Kind, Option
from berdseye.evaluation.construction.stored import Construction

TYPED = "Type them"
_NAMED = re.compile(r"([\w.-]+)=(.+)")
CONSTRUCTION = "construction"
"""The key of the page's address that names the construction on it."""
_WIDTH = 260
"""The width of an option, in pixels."""
BEGUN = "construction-begun"
"""The key of the session state with the name of the construction that was just begun, which the page shows next."""


def new_construction() -> None:
    """Draw the form. Once it is started, the page shows the construction."""
    kind = KINDS[selectbox_by_id("What to build", list(KINDS), "kind", _title, noun="kind of data set")]
    st.caption(with_code(f"It reads {kind.sources}. Steps: {', '.join(step.title for step in kind.steps)}."))
    sources = _sources(kind)
    name = chosen_name("construction", _free(next(iter(sources), kind.name)), list_constructions(workspace()))
    settings = _settings(kind)
    prompts = _prompts(kind)
    ready = name is not None and bool(sources)
    with st.container(horizontal=True):
        looks = st.button("Dry run", icon=":material/calculate:", disabled=not ready, help="Counts calls and costs.")
        starts = st.button("Start", icon=":material/play_arrow:", type="primary", disabled=not ready)
    if not (looks or starts) or name is None:
        return
    # Uploads are deleted after a day; files on this machine may be too large to copy.
    copying = st.session_state.get(f"build-{kind.name}-from") != PATH
    begin(workspace(), kind, name, sources, settings, prompts, made_by=started_by(), copying=copying)
    if starts:
        start_job(workspace(), ("construct", "resume", name), person=started_by())
    else:
        st.session_state["dry-run"] = name
    st.session_state[BEGUN] = name
    st.rerun()


def dry_run_table(construction: Construction) -> None:
    """Draw what each step would do, and the sum of the highest costs."""
    steps = expected(construction)
    rows = [
        {
            "step": step.title,
            "rows": f"{'' if step.exact else 'at most '}{step.rows:,}",
            "calls": f"{step.cost.calls:,}" if step.cost else "",
            "words read": f"{step.cost.words:,}" if step.cost else "",
            "tokens written, at most": f"{step.cost.tokens:,}" if step.cost else "",
        }
        for step in steps
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    costs = [step.cost for step in steps if step.cost]
    known = [cost.dollars for cost in costs if cost.dollars is not None]
    calls = sum(cost.calls for cost in costs)
    price = f"at most ${sum(known):,.2f}" if len(known) == len(costs) else "at a price that Berdseye does not know"
    st.caption(
        escaped(f"{calls:,} calls of {construction.settings['model']}, {price}. Stored completions cost nothing.")
    )


def _title(name: str) -> str:
    kind = KINDS[name]
    return f"{kind.title} ({kind.paper})" if kind.paper else kind.title


def _free(name: str) -> str:
    taken = set(list_constructions(workspace()))
    return next(free for n in range(1, len(taken) + 2) if (free := name if n == 1 else f"{name}-{n}") not in taken)


def _sources(kind: Kind) -> dict[str, Path]:
    others = (TYPED,) if kind.name == "questions" else ()
    way = chosen_way(f"build-{kind.name}", others)
    if way == TYPED:
        text = st.text_area(
            "Questions, one per line",
            key="build-questions",
            height=180,
            placeholder="Should cities ban private cars?\nShould voting be compulsory?",
        )
        if not (text or "").strip():
            return {}
        return {"questions": keep_upload(workspace(), "questions.txt", BytesIO(text.encode("utf-8", "replace")))}
    if way == UPLOAD:
        given = st.file_uploader(
            "Drop files here, or browse", key=f"build-{kind.name}-file", accept_multiple_files=True
        )
        paths = [keep_upload(workspace(), one.name, one) for one in given]
    else:
        typed = st.text_area(
            "Files or folders, one on each line",
            key=f"build-{kind.name}-path",
            height="content",
            placeholder="/data/questions.jsonl\ndelphi=/data/delphi.jsonl",
            help="They are read where they are, without an upload. NAME=FILE gives a file a name of its own.",
        )
        return _named_paths(typed or "")
    return _by_name((name_of_file(path) or "source", path) for path in paths)


def _named_paths(typed: str) -> dict[str, Path]:
    named = [
        match.groups() if (match := _NAMED.fullmatch(line.strip())) else ("", line.strip())
        for line in typed.splitlines()
        if line.strip()
    ]
    paths = [(name, Path(path.strip()).expanduser()) for name, path in named]
    return _by_name((name or name_of_file(path) or "source", path) for name, path in paths)


def _by_name(files: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    sources: dict[str, Path] = {}
    for source, path in files:
        if source in sources:
            raise BadInputError(f"Two files are called '{source}'.", hint="Rename one of them.")
        sources[source] = path
    return sources


def _settings(kind: Kind) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if kind.asks:
        default = workspace().settings["language_models"]["default"]
        typed = st.text_input(
            "Language model",
            key="build-model",
            placeholder=f"llm: {default}" if default else "api(gpt-4o-mini)",
            help="api(NAME), local(NAME), or empty for the workspace's default model.",
        )
        settings["model"] = (typed or "").strip() or "llm"
    else:
        settings["model"] = "llm"
    if kind.options:
        settings |= {option.name: _widget(kind, option) for option in kind.options if option.corpora}
        with st.expander("Options", icon=":material/tune:"), st.container(horizontal=True):
            settings |= {option.name: _narrow_widget(kind, option) for option in kind.options if not option.corpora}
    return settings


def _narrow_widget(kind: Kind, option: Option) -> Any:
    with st.container(width=_WIDTH):
        return _widget(kind, option)


def _widget(kind: Kind, option: Option) -> Any:
    label, key = option.name.replace("_", " ").capitalize(), f"build-{kind.name}-{option.name}"
    if option.corpora:
        return " ".join(st.multiselect(label, workspace().corpora(), key=key, help=option.help))
    if option.choices:
        return st.selectbox(label, option.choices, option.choices.index(option.default), key=key, help=option.help)
    match option.default:
        case bool():
            return st.toggle(label, option.default, key=key, help=option.help)
        case int():
            least, most = int(option.least or 0), None if option.most is None else int(option.most)
            return st.number_input(label, least, most, option.default, key=key, help=option.help)
        case float():
            return st.number_input(label, 0.0, 1.0, option.default, 0.01, key=key, help=option.help)
    typed = (st.text_input(label, option.default or "", key=key, help=option.help) or "").strip()
    return (option.kind(typed) if typed else None) if option.default is None else typed


def _prompts(kind: Kind) -> Mapping[str, Path]:
    if not kind.asks:
        return {}
    given: dict[str, Path] = {}
    with st.expander("Other prompts", icon=":material/description:"):
        st.caption("A text file replaces one of Berdseye's prompts, for example by a paper's released one.")
        for name, asking in kind.asks.items():
            slots = ", ".join(f"[{slot}]" for slot in asking.slots)
            file = st.file_uploader(f"{name}, with {slots}", key=f"build-{kind.name}-prompt-{name}", type="txt")
            if file is not None:
                given[name] = keep_upload(workspace(), file.name, file)
    return given
