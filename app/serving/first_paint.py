"""The style of the pages in the HTML document itself, so that nothing moves while the first page loads.

Streamlit's document is empty. Its program draws a page in the theme's size only when the server has sent the theme, and the style
of the pages and the sidebar arrive later still; without this style each of them would move everything that is drawn already.
"""

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from berdseye.app.components.looks import SIDEBAR, STYLE

# At the end of the body: of two rules that are equally specific, the later one holds, and Streamlit's program adds its style to
# the head.
_BEFORE = b"</body>"
_LEFT_OUT = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
# Something whose program is still being fetched, or a chart that is still empty, is not yet as large as it will be. What comes
# below it waits.
_GROWING = ':is([data-testid="stSkeleton"], [data-testid="stVegaLiteChart"]:not(:has(.marks)))'
_LOADING = f"""
:root[data-loading] [data-testid="stMain"]
:is(.stElementContainer, [data-testid="stLayoutWrapper"]):has({_GROWING}) ~ * {{ display: none; }}
[data-testid="stMainBlockContainer"] {{ max-width: none; }}
[data-testid="stSidebarContent"]:not(:has([data-testid="stSidebarNav"])) [data-testid="stSidebarUserContent"] {{
  visibility: hidden;
}}
@media (min-width: 769px) {{
  [data-testid="stApp"]:not([data-test-script-state="notRunning"])
  [data-testid="stAppViewContainer"]:not(:has([data-testid="stSidebar"])) {{
    box-sizing: border-box; padding-left: {SIDEBAR}px;
    background: linear-gradient(to right, color-mix(in srgb, currentColor 4%, transparent) {SIDEBAR}px, transparent 0);
  }}
}}
"""
_PATIENCE = 10_000
"""Milliseconds after which the page is shown as it is, for instance with a chart that failed."""
# Says until when the first page is loading: until the program is at rest, and everything has its size.
_SCRIPT = f"""
document.documentElement.dataset.loading = "";
const loading = new MutationObserver(() => {{
  const main = document.querySelector('[data-test-script-state="notRunning"] [data-testid="stMain"]');
  if (main?.querySelector(".stElementContainer") && !main.querySelector('{_GROWING}')) loaded();
}});
const loaded = () => {{
  delete document.documentElement.dataset.loading;
  loading.disconnect();
}};
loading.observe(document, {{ childList: true, subtree: true, attributeFilter: ["data-test-script-state"] }});
setTimeout(loaded, {_PATIENCE});
"""


def beginning() -> str:
    """Return what the document begins with: the style of the pages, and what holds until the first page is complete."""
    size = st.get_option("theme.baseFontSize")
    return f"<style>:root:root {{ font-size: {size}px; }}{STYLE}{_LOADING}</style><script>{{{_SCRIPT}}}</script>"


class FirstPaint:
    """Adds the style to every HTML document that the server sends."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request for a document on, and complete its response; pass other requests on unchanged."""
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or "text/html" not in Headers(scope=scope).get("accept", "")
        ):
            await self._app(scope, receive, send)
            return
        whole = {**scope, "headers": [(name, value) for name, value in scope["headers"] if name not in _LEFT_OUT]}
        start: Message | None = None
        document = b""

        async def completed(message: Message) -> None:
            nonlocal start, document
            if message["type"] == "http.response.start" and _is_html(message):
                start = message
            elif start is None:
                await send(message)
            else:
                document += message.get("body", b"")
                if not message.get("more_body"):
                    document = document.replace(_BEFORE, beginning().encode() + _BEFORE)
                    headers = MutableHeaders(scope=start)
                    headers["content-length"] = str(len(document))
                    del headers["etag"]
                    await send(start)
                    await send({"type": "http.response.body", "body": document})

        await self._app(whole, receive, completed)


def _is_html(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "").startswith("text/html")
