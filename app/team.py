"""The app in team mode. `berdseye app` serves this file. The secrets of the sign-in stay in memory."""

import os
import secrets
import sys

import streamlit as st
from starlette.middleware import Middleware

from berdseye.app.access.oidc import COOKIE_SECRET, auth_secrets
from berdseye.app.components.plain_text import escaped
from berdseye.app.serving.first_paint import FirstPaint
from berdseye.app.serving.gate import check_settings, middleware
from berdseye.app.serving.warm import warmed
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace


def refused(error: Exception) -> bool:
    """Show an error of Berdseye, such as a missing right, and return True. Return False for others, which Streamlit
    shows."""
    if isinstance(error, BerdseyeError):
        st.error(escaped(str(error)), icon=":material/error:")
    return isinstance(error, BerdseyeError)


try:
    check_settings()
except BerdseyeError as fault:
    sys.exit(f"Error: {fault}")
workspace = Workspace.open(Workspace.default_folder())
app = st.App(
    "main.py",
    on_script_error=refused,
    lifespan=warmed,
    middleware=[*middleware(workspace), Middleware(FirstPaint)],
    secrets={
        "auth": {
            **auth_secrets(
                workspace.people,
                os.environ.get(COOKIE_SECRET) or secrets.token_urlsafe(32),
                int(st.get_option("server.port")),
            )
        }
    },
)
