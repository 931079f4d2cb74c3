"""The Workspace page: the settings, the health, the backups and the sizes of the workspace. Only admins see it."""

from collections.abc import Callable

import streamlit as st

from berdseye.app.access.session import errors_in_place
from berdseye.app.components.upkeep.backup_panel import backup_panel
from berdseye.app.components.upkeep.disk_panel import disk_panel
from berdseye.app.components.upkeep.health_panel import health_panel
from berdseye.app.components.upkeep.settings_panel import settings_panel

TABS: dict[str, Callable[[], None]] = {
    "Settings": settings_panel,
    "Health": health_panel,
    "Backup": backup_panel,
    "Disk": disk_panel,
}


def page() -> None:
    """Draw the tabs. Settings are always drawn, because changes that are not saved would be lost otherwise."""
    opened = st.tabs(list(TABS), key="tab", on_change="rerun", bind="query-params")
    for tab, (name, draw) in zip(opened, TABS.items(), strict=True):
        if tab.open or name == "Settings":
            with tab, errors_in_place():
                draw()


with errors_in_place():
    page()
