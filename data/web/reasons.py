"""Why a web page is not used."""

from typing import Literal

Reason = Literal[
    "read",
    "robots.txt",
    "private address",
    "untrusted",
    "too large",
    "timed out",
    "not HTML",
    "no text",
    "failed",
    "out of time",
]
"""What became of a page; everything but 'read' says why it is not used."""


class PageError(Exception):
    """Why one page cannot be had; it never ends the fetching of the others."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail
