"""A form for a command of the command line, built from the command itself, with a suitable widget for each option."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, get_args

import streamlit as st

from berdseye.app.components.plain_text import with_code

_HIDDEN = ("workspace", "form", "json", "help")
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
    """Draw the help of a command with its example."""
    description, _, example = (command.help or "").partition("Example:")
    st.caption(with_code(description.strip()))
    if example:
        st.caption("For example:")
        st.code(example.strip().strip("`"), language=None)


def command_form(
    command: Any, choices: Mapping[str, Sequence[str]], key: str, button: str = "Run the study"
) -> list[str] | None:
    """Draw the form. Return the arguments once it is sent, None before. `choices` holds the values to choose from, by the name
    of the option."""
    with st.form(key, border=False):
        values: list[str] = []
        missing: list[str] = []
        shown = [p for p in command.params if p.name not in _HIDDEN]
        for start in range(0, len(shown), _ACROSS):
            row = st.columns(_ACROSS, vertical_alignment="bottom")
            for column, parameter in zip(row, shown[start : start + _ACROSS], strict=False):
                with column:
                    from_widget = _argument(parameter, choices, key)
                values += from_widget
                if parameter.required and not from_widget:
                    missing.append(_label(parameter))
        sent = st.form_submit_button(button, type="primary", icon=":material/play_arrow:")
    if sent and missing:
        st.warning(f"Not started. Enter a value for {', '.join(missing)}.")
    return values if sent and not missing else None


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
    return str(parameter.name or "").replace("_", " ").replace("dataset", "data set").capitalize()


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
