"""The ports of this machine that Berdseye serves on."""

import socket

from berdseye.app.console import note
from berdseye.data.errors import BerdseyeError

HOST = "127.0.0.1"
APP_PORT, LABEL_STUDIO_PORT = 8501, 8080


def free_port(port: int) -> int:
    """`port`, or the next one that is free; a change is said."""
    for candidate in range(port, port + 50):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, candidate))
            except OSError:
                continue
        if candidate != port:
            note(f"Port {port} is in use; {candidate} is taken instead.")
        return candidate
    raise BerdseyeError(f"The ports {port} to {port + 49} are all in use.", hint="Name another with --port.")
