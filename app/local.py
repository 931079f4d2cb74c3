"""The app in local mode, for people who work on this machine. `berdseye app` serves this file."""

import streamlit as st
from starlette.middleware import Middleware

from berdseye.app.serving.first_paint import FirstPaint
from berdseye.app.serving.gate import middleware
from berdseye.app.serving.warm import warmed
from berdseye.data.workspace import Workspace

app = st.App(
    "main.py",
    lifespan=warmed,
    middleware=[*middleware(Workspace.open(Workspace.default_folder())), Middleware(FirstPaint)],
)
