"""A form for a command of the command line, made from the command itself: each option is the widget that fits it."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, get_args

import streamlit as st

from berdseye.app.components.plain_text import escaped

_HIDDEN = ("workspace", "form", "json", "help")
_ACROSS = 3


def leaf_commands(group: Any, before: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Every command below a group, as Typer holds them, by the words it is called with."""
    children: Mapping[str, Any] = getattr(group, "commands", {})
    if not children:
        return {before: group}
    return {
        words: command
        for name, child in children.items()
        for words, command in leaf_commands(child, (*before, name)).items()
    }


def command_told(command: Any) -> None:
    """What a command does, by its own help, with its example."""
    told, _, example = (command.help or "").partition("Example:")
    parts = enumerate(told.strip().split("`"))
    st.caption("".join(f"`{part}`" if place % 2 else escaped(part) for place, part in parts))
    if example:
        st.caption("For example:")
        st.code(example.strip().strip("`"), language=None)


def command_form(
    command: Any, choices: Mapping[str, Sequence[str]], key: str, button: str = "Run the study"
) -> list[str] | None:
    """Draw the form; gives the arguments when it is sent, None before. `choices` are what options can be chosen from, by the
    name of the option."""
    with st.form(key, border=False):
        values: list[str] = []
        missing: list[str] = []
        shown = [p for p in command.params if p.name not in _HIDDEN]
        for start in range(0, len(shown), _ACROSS):
            row = st.columns(_ACROSS, vertical_alignment="bottom")
            for column, parameter in zip(row, shown[start : start + _ACROSS], strict=False):
                with column:
                    given = _argument(parameter, choices, key)
                values += given
                if parameter.required and not given:
                    missing.append(_label(parameter))
        sent = st.form_submit_button(button, type="primary", icon=":material/play_arrow:")
    if sent and missing:
        st.warning(f"Not started: it wants a value for {', '.join(missing)}.")
    return values if sent and not missing else None


def _argument(parameter: Any, choices: Mapping[str, Sequence[str]], key: str) -> list[str]:
    name = parameter.name or ""
    label = _label(parameter)
    told = getattr(parameter, "help", None) or None
    option = max((o for o in parameter.opts if o.startswith("--")), key=len, default="")
    kind = parameter.type_descriptor.annotation
    words = [str(member.value) for member in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []
    words = words or [word for word in get_args(kind) if isinstance(word, str)]
    offered = choices.get(name) or words
    own, default = f"{key}-{name}", getattr(parameter.default, "value", parameter.default)
    if getattr(parameter, "is_flag", False):
        return [option] if st.toggle(label, bool(default), help=told, key=own) else []
    if parameter.multiple or parameter.nargs != 1:
        chosen = st.multiselect(label, offered, help=told, key=own, accept_new_options=True,
                                placeholder=_empty(parameter, offered))  # fmt: skip
        return [part for value in chosen for part in ((option, str(value)) if option else (str(value),))]
    if offered:
        place = list(offered).index(str(default)) if str(default) in offered else None
        chosen_one = st.selectbox(label, offered, index=place, help=told, key=own, accept_new_options=True,
                                  placeholder="choose one" if parameter.required else "as usual")  # fmt: skip
        return _given(option, chosen_one)
    return _given(option, st.text_input(label, "" if default is None else str(default), help=told, key=own))


def _label(parameter: Any) -> str:
    return str(parameter.name or "").replace("_", " ").capitalize()


def _empty(parameter: Any, offered: Sequence[str]) -> str:
    """What stands in a choice of several where nothing is chosen."""
    if not offered:
        return "type and press Enter"
    return "choose" if parameter.required else "all"


def _given(option: str, value: str | None) -> list[str]:
    text = (value or "").strip()
    if not text:
        return []
    return [option, text] if option else [text]
