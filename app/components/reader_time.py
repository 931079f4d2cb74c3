"""Times in the reader's own time zone, which the browser names."""

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st


def reader_zone() -> tzinfo:
    """Return the time zone of the reader's browser, or UTC if the browser names none that is known here."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def shown_moment(when: datetime) -> str:
    """Write a time for the reader: only the time of day for today, with the date otherwise. UTC is named where the browser names
    no time zone."""
    zone = reader_zone()
    local = when.astimezone(zone)
    day = "" if local.date() == datetime.now(zone).date() else f"{local:%Y-%m-%d} "
    return f"{day}{local:%H:%M}{' UTC' if zone is UTC else ''}"
