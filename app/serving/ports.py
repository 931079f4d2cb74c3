"""The ports of the servers on this machine."""

import socket

from berdseye.app.commands.console import note
from berdseye.data.errors import BerdseyeError

HOST = "127.0.0.1"
APP_PORT, LABEL_STUDIO_PORT = 8501, 8080
_TRIED = 50


def free_port(port: int) -> int:
    """Return `port`, or the next free port with a note. Raises `BerdseyeError` if all 50 ports from `port` are in use."""
    for candidate in range(port, port + _TRIED):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, candidate))
            except OSError:
                continue
        if candidate != port:
            note(f"Port {port} is in use; using {candidate} instead.")
        return candidate
    raise BerdseyeError(
        f"The ports {port} to {port + _TRIED - 1} are all in use.", hint="Choose another port with --port."
    )
