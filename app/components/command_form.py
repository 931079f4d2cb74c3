"""A form for a command of the command line, built from the command itself, with a suitable widget for each option."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, get_args

import streamlit as st

from berdseye.app.components.plain_text import with_code

_HIDDEN = ("workspace", "form", "json", "help")
_MAIN = ("dataset", "corpus", "pipeline", "run", "files", "measure", "measures", "labels", "k")
"""Options that are always visible; optional others are folded."""
_LABELS = {
    "dataset": "Data set",
    "day": "Day of a web corpus",
    "k": "Top k",
    "limit": "Only the first questions",
    "min_judged": "Least judged share",
    "paper": "Include the paper's rows",
    "ray": "Ray cluster",
    "released": "Released data only",
    "sample_seed": "Seed of the sample",
    "stratify_by": "Split the table by",
    "window": "Context window",
    "wraps": "Each of the six wraps",
}
"""The labels of options whose names do not say enough."""
_ACROSS = 3


def leaf_commands(group: Any, before: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return every command below a group, by the words that call it."""
    children: Mapping[str, Any] = getattr(group, "commands", {})
    if not children:
        return {before: group}
    return {
        words: command
        for name, child in children.items()
        for words, command in leaf_commands(child, (*before, name)).items()
    }


def draw_command_help(command: Any) -> None:
    """Draw what a command does in a sentence; the rest of its help, and its example, open on request."""
    description, _, example = (command.help or "").partition("Example:")
    first, _, more = description.strip().partition(".")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(with_code(f"{first}."), width="stretch")
        if not more.strip() and not example:
            return
        with st.popover("As a command", icon=":material/terminal:", type="tertiary"):
            st.markdown(with_code(f"{first}.{more}".strip()))
            if example:
                st.caption("For example:")
                st.code(example.strip().strip("`"), language=None, wrap_lines=True)


def command_form(
    command: Any, choices: Mapping[str, Sequence[str]], key: str, button: str = "Run the study"
) -> list[str] | None:
    """Draw the form. Return the arguments once it is sent, None before. `choices` holds the values to choose from, by the name
    of the option."""
    with st.form(key, border=False):
        shown = [p for p in command.params if p.name not in _HIDDEN]
        main = [p for p in shown if p.required or p.name in _MAIN]
        values, missing = _drawn(main or shown, choices, key)
        if main and len(main) < len(shown):
            with st.expander("More options", icon=":material/tune:"):
                values += _drawn([p for p in shown if p not in main], choices, key)[0]
        sent = st.form_submit_button(button, type="primary", icon=":material/play_arrow:")
    if sent and missing:
        st.warning(f"Not started. Enter a value for {', '.join(missing)}.")
    return values if sent and not missing else None


def _drawn(parameters: Sequence[Any], choices: Mapping[str, Sequence[str]], key: str) -> tuple[list[str], list[str]]:
    """Draw the widgets of these parameters in rows. Return the arguments, and the labels of required ones without a value."""
    values: list[str] = []
    missing: list[str] = []
    for start in range(0, len(parameters), _ACROSS):
        row = st.columns(_ACROSS, vertical_alignment="bottom")
        for column, parameter in zip(row, parameters[start : start + _ACROSS], strict=False):
            with column:
                from_widget = _argument(parameter, choices, key)
            values += from_widget
            if parameter.required and not from_widget:
                missing.append(_label(parameter))
    return values, missing


def _argument(parameter: Any, choices: Mapping[str, Sequence[str]], key: str) -> list[str]:
    name = parameter.name or ""
    label = _label(parameter)
    help_text = getattr(parameter, "help", None) or None
    option = max((o for o in parameter.opts if o.startswith("--")), key=len, default="")
    kind = parameter.type_descriptor.annotation
    values = [str(member.value) for member in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []
    values = values or [word for word in get_args(kind) if isinstance(word, str)]
    offered = choices.get(name) or values
    widget_key, default = f"{key}-{name}", getattr(parameter.default, "value", parameter.default)
    if getattr(parameter, "is_flag", False):
        return [option] if st.toggle(label, bool(default), help=help_text, key=widget_key) else []
    if parameter.multiple or parameter.nargs != 1:
        chosen = st.multiselect(label, offered, help=help_text, key=widget_key, accept_new_options=True,
                                placeholder=_empty(parameter, offered))  # fmt: skip
        return [part for value in chosen for part in ((option, str(value)) if option else (str(value),))]
    if offered:
        place = list(offered).index(str(default)) if str(default) in offered else None
        chosen_one = st.selectbox(label, offered, index=place, help=help_text, key=widget_key, accept_new_options=True,
                                  placeholder="choose one" if parameter.required else "default")  # fmt: skip
        return _option_words(option, chosen_one)
    return _option_words(
        option, st.text_input(label, "" if default is None else str(default), help=help_text, key=widget_key)
    )


def _label(parameter: Any) -> str:
    name = str(parameter.name or "")
    if name == "missing":
        return "Only runs that are missing" if getattr(parameter, "is_flag", False) else "Missing questions"
    return _LABELS.get(name, name.replace("_", " ").capitalize())


def _empty(parameter: Any, offered: Sequence[str]) -> str:
    """Return the placeholder of a multiple choice."""
    if not offered:
        return "type and press Enter"
    return "choose" if parameter.required else "all"


def _option_words(option: str, value: str | None) -> list[str]:
    text = (value or "").strip()
    if not text:
        return []
    return [option, text] if option else [text]
