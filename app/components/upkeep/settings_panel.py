"""The tab Settings of the Workspace page: every setting of berdseye.toml with its meaning, its value and its default, and the
form that changes them."""

import os
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import pandas as pd
import streamlit as st
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from berdseye.annotation.judgments.database import shown_url
from berdseye.app.access.roles import check
from berdseye.app.access.session import role, started_by, use_settings, workspace
from berdseye.app.components.plain_text import escaped
from berdseye.data.errors import BadInputError, BerdseyeError, StaleError
from berdseye.data.language_models.cost import PRICES
from berdseye.data.people import MODES, ROLES
from berdseye.data.settings_file import Change, WrittenSettings, different, read_settings, save_settings
from berdseye.data.texts.counts import counted, plural
from berdseye.data.workspace import DEFAULTS

Kind = Literal["text", "database", "number", "share", "choice"]
_READ, _FAULT, _SAVED = "settings-read", "settings-fault", "settings-saved"
_DISCARDED = "settings-discarded"


class Setting(NamedTuple):
    """A setting: its title, its meaning in one sentence, its widget, and whether the app must be started again for it."""

    title: str
    meaning: str
    kind: Kind = "text"
    restart: bool = False
    options: tuple[str, ...] = ()
    variable: str = ""
    """The environment variable that is used instead of the setting if it is set."""


GROUPS: Mapping[str, tuple[str, ...]] = {
    "Judging and measures": ("judging", "measures", "detectors"),
    "Language models": ("language_models",),
    "Label Studio": ("label_studio",),
    "Access": ("people",),
    "Database": ("judgments",),
}
"""The sections of the settings in the order of the page, in groups with their titles."""
SETTINGS: Mapping[Change, Setting] = {
    ("judging", "break_minutes"): Setting(
        "Break after (minutes)",
        "Annotate suggests a break after so many minutes of judging; 0 turns this off.",
        "number",
    ),
    ("measures", "min_judged"): Setting(
        "Least judged share",
        "A measure is withheld if fewer of the pairs in the top k have a label: 0.5 is half of them, 0 shows every value.",
        "share",
    ),
    ("measures", "unjudged"): Setting(
        "Questions without a label in the top k",
        "zero: they count as finding nothing; left-out: each run leaves out its own.",
        "choice",
        options=("zero", "left-out"),
    ),
    ("detectors", "unsure"): Setting(
        "Unsure within",
        "A detector is unsure about a pair if its probability is closer to the threshold than this.",
        "share",
    ),
    ("language_models", "default"): Setting(
        "Default language model", "The language model where none is named, such as api(NAME) or local(NAME)."
    ),
    ("language_models", "cap"): Setting(
        "Spending limit (dollars)",
        "The most that language models of this workspace may cost in all; 0 sets no limit.",
        "number",
    ),
    ("language_models", "requests_per_minute"): Setting(
        "Requests per minute", "The most requests per minute to a server of language models; 0 sets no limit.", "number"
    ),
    ("label_studio", "url"): Setting(
        "Label Studio server",
        "The address of a Label Studio server of your own; empty: the server that Berdseye starts.",
        restart=True,
        variable="BERDSEYE_LABEL_STUDIO_URL",
    ),
    ("label_studio", "project"): Setting(
        "Label Studio project", "The Label Studio project of the judgments that belong to no batch.", restart=True
    ),
    ("people", "mode"): Setting(
        "Mode of access",
        "local: a name is enough; team: people sign in at an OpenID Connect provider.",
        "choice",
        True,
        MODES,
    ),
    ("people", "issuer"): Setting(
        "Sign-in provider", "The https address of the OpenID Connect provider.", restart=True
    ),
    ("people", "client_id"): Setting(
        "Client at the provider", "The name under which the provider knows this app.", restart=True
    ),
    ("people", "address"): Setting(
        "Address of the app", "The https address at which people open the app; empty: this machine only.", restart=True
    ),
    ("people", "default_role"): Setting(
        "Default role",
        "The role of people who sign in and have no role of their own; empty: no access.",
        "choice",
        options=("", *(name for name in ROLES if name != "admin")),
    ),
    ("people", "session_hours"): Setting("Sign-in lasts (hours)", "People sign in again after this time.", "number"),
    ("judgments", "url"): Setting(
        "Database",
        "The URL of the database of judgments; empty: judgments.db in the workspace. Judgments are not moved to a new database.",
        "database",
        restart=True,
        variable="BERDSEYE_JUDGMENTS_URL",
    ),
}
"""Every setting with a single value. Prices have a table; roles have a page."""
SECRETS: Mapping[str, str] = {
    "BERDSEYE_OIDC_CLIENT_SECRET": "sign-in at the OpenID Connect provider",
    "BERDSEYE_COOKIE_SECRET": "the cookies of signed-in people",
    "BERDSEYE_LABEL_STUDIO_TOKEN": "the Label Studio server",
    "BERDSEYE_JUDGMENTS_URL": "the database of judgments, with its password",
    "PGPASSWORD": "the password of a PostgreSQL database",
    "OPENAI_API_KEY": "the server of language models",
    "SERPER_API_KEY": "web search with serper.dev",
    "HF_TOKEN": "models of the Hugging Face Hub",
}
"""Environment variables that hold secrets, with what they are for. Their values are never shown."""


def settings_panel() -> None:
    """Draw the settings, what changes if they are saved, and the button that saves them."""
    base = _base()
    _notices()
    st.caption("The settings of berdseye.toml. A change takes effect at once, unless the setting says otherwise.")
    changed_place = st.container(key="settings-changes")
    edited: dict[Change, Any] = {}
    for place, (title, sections) in enumerate(GROUPS.items()):
        with st.expander(title, expanded=not place, key=f"group-{sections[0]}"):
            for name, setting in SETTINGS.items():
                if name[0] in sections:
                    edited[name] = _draw_setting(name, setting, base.settings)
            if "language_models" in sections:
                edited |= _prices(base.settings["language_models"]["prices"])
            if "people" in sections:
                _draw_roles(base.settings["people"]["roles"])
    with st.expander("Secrets", key="group-secrets"):
        _draw_secrets()
    with changed_place:
        _draw_save(base, {name: value for name, value in edited.items() if value != _written(base.settings, name)})


def _base() -> WrittenSettings:
    """Return the settings as this session has read them. They are read again by a button, after saving, and in a new session."""
    if _READ not in st.session_state:
        st.session_state[_READ] = read_settings(workspace())
    base: WrittenSettings = st.session_state[_READ]
    return base


def _notices() -> None:
    """Draw what the last saving has changed, or why it has failed."""
    if saved := st.session_state.pop(_SAVED, None):
        st.success(escaped(saved), icon=":material/check_circle:")
    fault: BerdseyeError | None = st.session_state.get(_FAULT)
    if fault is None:
        return
    st.error(escaped(str(fault)), icon=":material/error:")
    if not isinstance(fault, StaleError):
        return
    now = read_settings(workspace())
    for name in different(_base().settings, now.settings, SETTINGS):
        st.markdown(
            escaped(f"{_title(name)} is now {_shown(name, now.settings)}; it was {_shown(name, _base().settings)}.")
        )
    with st.container(horizontal=True):
        st.button("Keep my values and compare", key="settings-compare", on_click=_read_again)
        st.button("Discard my values", key="settings-discard", on_click=_discard)


def _draw_setting(name: Change, setting: Setting, settings: Mapping[str, Any]) -> Any:
    """Draw one setting and return the value in its widget."""
    with st.container(key=f"setting-{name[0]}-{name[1]}"):
        left, right = st.columns([2, 3], vertical_alignment="center")
        key = _key(name)
        if key not in st.session_state:
            st.session_state[key] = _in_widget(name, setting, _written(settings, name))
        with left:
            value = _widget(setting, key)
        with right:
            default = _written(DEFAULTS, name)
            parts = [setting.meaning, f"Default: {_plain(default)}.", f"`{name[0]}.{name[1]}`"]
            if setting.restart:
                parts.append("Takes effect when the app is started again.")
            st.caption(" ".join(part if part.startswith("`") else escaped(part) for part in parts))
            if setting.variable and os.environ.get(setting.variable):
                st.caption(f":material/info: {setting.variable} is set in the environment and is used instead.")
    if setting.kind == "database" and value == _hidden_password(_written(settings, name)):
        return _written(settings, name)
    return value


def _widget(setting: Setting, key: str) -> Any:
    match setting.kind:
        case "number":
            return st.number_input(setting.title, 0.0, None, key=key, step=1.0, format="%g")
        case "share":
            return st.number_input(setting.title, 0.0, 1.0, key=key, step=0.05, format="%.2f")
        case "choice":
            return st.selectbox(setting.title, setting.options, key=key, format_func=lambda option: option or "none")
    return str(st.text_input(setting.title, key=key)).strip()


def _prices(prices: Mapping[str, Any]) -> dict[Change, Any]:
    """Draw the prices of language models as a table and return the price of each model, None for those deleted."""
    st.caption(
        "Prices in dollars per million input and output tokens. A spending limit requires a price for each model."
    )
    rows = pd.DataFrame(
        [(name, *(float(part) for part in price)) for name, price in prices.items()],
        columns=["model", "input", "output"],
    ).astype({"model": str, "input": float, "output": float})
    number = st.column_config.NumberColumn(min_value=0.0, required=True, format="%.4g")
    table = st.data_editor(
        rows,
        num_rows="dynamic",
        hide_index=True,
        key=f"settings-prices-{st.session_state.setdefault(_DISCARDED, 0)}",
        column_config={"model": st.column_config.TextColumn(required=True), "input": number, "output": number},
    )
    complete = table.dropna()
    names = complete["model"].astype(str).str.strip()
    given = {
        (PRICES, name): [float(one), float(other)]
        for name, one, other in zip(names, complete["input"], complete["output"], strict=True)
        if name
    }
    return {(PRICES, name): None for name in prices} | given


def _draw_roles(roles: Mapping[str, Any]) -> None:
    count = len(roles)
    people = f"{counted(count, 'person or domain', 'people or domains')} {plural(count, 'has', 'have')}"
    st.caption(f"{people} a role of their own (`people.roles`). [Assign roles on the page People](people).")


def _draw_secrets() -> None:
    """Draw which secrets are set. Their values never reach the browser."""
    st.caption("Secrets come from the environment in which the app is started. Their values are never shown.")
    table = pd.DataFrame(
        [(name, purpose, "set" if os.environ.get(name) else "not set") for name, purpose in SECRETS.items()],
        columns=["variable", "for", "state"],
    )
    st.dataframe(table, hide_index=True, key="secrets")


def _draw_save(base: WrittenSettings, changes: Mapping[Change, Any]) -> None:
    """Draw the list of changes that are not saved, and the buttons that save or discard them."""
    if changes.get(("people", "mode")) == "team" and "admin" not in base.settings["people"]["roles"].values():
        st.warning("Nobody is an admin yet. Assign that role first, or nobody can change the workspace in team mode.")
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Save settings", type="primary", icon=":material/save:", disabled=not changes, key="settings-save"
        )
        if changes:
            st.button("Discard changes", key="settings-undo", on_click=_discard)
        count = f"{counted(len(changes), 'change')} {plural(len(changes), 'is', 'are')}"
        st.caption(f"{count} not saved:" if changes else "All settings are saved.")
    for name, value in changes.items():
        before = _shown(name, base.settings)
        after = "deleted" if value is None else _plain(_safe(name, value))
        st.markdown(f"**{escaped(_title(name))}**: {escaped(before)} → {escaped(after)}")
    if pressed:
        _save(base, changes)
        st.rerun()


def _save(base: WrittenSettings, changes: Mapping[Change, Any]) -> None:
    check(role(), "administer", started_by() or "this person")
    try:
        for name, value in changes.items():
            if name in SETTINGS and SETTINGS[name].kind == "database" and ":***@" in str(value):
                raise BadInputError(
                    "The URL contains *** instead of a password.", where="judgments.url", hint="Enter the whole URL."
                )
        saved = save_settings(workspace(), changes, base.version)
    except BerdseyeError as error:
        st.session_state[_FAULT] = error
        return
    use_settings(saved.settings, [name for name in SETTINGS if not SETTINGS[name].restart])
    later = [_title(name) for name in changes if name in SETTINGS and SETTINGS[name].restart]
    after = f" Start the app again for {', '.join(later)}." if later else ""
    _discard()
    st.session_state[_READ] = saved
    st.session_state[_SAVED] = f"The settings are saved.{after}"


def _read_again() -> None:
    """Read the file again and keep the values in the widgets, except those that nobody has changed here."""
    base, now = _base(), read_settings(workspace())
    for name in different(base.settings, now.settings, SETTINGS):
        if st.session_state.get(_key(name)) == _in_widget(name, SETTINGS[name], _written(base.settings, name)):
            del st.session_state[_key(name)]
    st.session_state[_READ] = now
    st.session_state.pop(_FAULT, None)


def _discard() -> None:
    """Let the widgets show the file as it is now."""
    for name in SETTINGS:
        st.session_state.pop(_key(name), None)
    for key in (_READ, _FAULT):
        st.session_state.pop(key, None)
    st.session_state[_DISCARDED] = st.session_state.get(_DISCARDED, 0) + 1  # a new table of prices, without edits


def _key(name: Change) -> str:
    return f"set-{name[0]}-{name[1]}"


def _title(name: Change) -> str:
    return SETTINGS[name].title if name in SETTINGS else f"Price of {name[1]}"


def _written(settings: Mapping[str, Any], name: Change) -> Any:
    """Return the value of a setting, or of a price, which may be None."""
    table: Any = settings
    for part in name[0].split("."):
        table = table[part]
    value = table.get(name[1])
    return float(value) if isinstance(value, int) else value


def _in_widget(name: Change, setting: Setting, value: Any) -> Any:
    if setting.kind == "share":
        return min(1.0, float(value))
    return _safe(name, value)


def _safe(name: Change, value: Any) -> Any:
    """Return a value without its password."""
    return _hidden_password(value) if name == ("judgments", "url") else value


def _hidden_password(url: Any) -> str:
    text = str(url or "")
    try:
        return shown_url(make_url(text)) if text and make_url(text).password else text
    except ArgumentError:
        return text


def _shown(name: Change, settings: Mapping[str, Any]) -> str:
    return _plain(_safe(name, _written(settings, name)))


def _plain(value: Any) -> str:
    """Write a value for people."""
    if isinstance(value, list):
        return " and ".join(map(_plain, value))
    return "none" if value in ("", None) else f"{value:g}" if isinstance(value, float) else str(value)
