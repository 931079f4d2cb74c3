"""`berdseye app`: Label Studio and the Streamlit app on loopback, both ended on Ctrl-C.

The ports of this machine that Berdseye serves on.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType

from berdseye.annotation.label_studio.server import Server, running, start
from berdseye.app.access.oidc import auth_secrets
from berdseye.app.commands.console import note
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace

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


_RECEIVE_EVERY = 30.0
_LOOK_EVERY = 5.0
_APP = Path(__file__).parents[1]


def serve(workspace: Workspace, port: int, label_studio_port: int | None) -> int:
    """Run until Ctrl-C (or until the app ends); returns the app's exit status. `None` leaves Label Studio out."""
    port = free_port(port)
    if workspace.people.team:
        auth_secrets(workspace.people, "", port)  # whoever starts a team's app learns here what it lacks
    ending = threading.Event()
    _end_on_signals(ending)  # before anything starts, so that nothing started outlives a Ctrl-C
    app = _start_app(workspace, port)
    server: Server | None = None
    try:
        if label_studio_port is not None:
            server = _start_label_studio(workspace, label_studio_port)
        note(f"Berdseye       http://{HOST}:{port}")
        if server is not None:
            note(f"Label Studio   {server.url}   (starting; how a person signs in: berdseye label-studio account NAME)")
            threading.Thread(target=_exchange, args=(workspace, server, ending), daemon=True).start()
        note("Ctrl-C ends both." if server is not None else "Ctrl-C ends it.")
        while not ending.wait(0.2):
            if app.poll() is not None:
                return int(app.returncode)
        return 0
    finally:
        ending.set()
        app.terminate()
        try:
            app.wait(timeout=10)
        except subprocess.TimeoutExpired:
            app.kill()
        if server is not None:
            server.stop()
        note("Ended.")


def _start_label_studio(workspace: Workspace, port: int) -> Server | None:
    folder = workspace.label_studio_folder
    if (known := running(folder)) is not None:
        return known
    try:
        return start(folder, free_port(port))
    except BerdseyeError as error:
        note(f"Label Studio does not start: {error} The app runs without it; judgments wait here.")
        return None


def _start_app(workspace: Workspace, port: int) -> "subprocess.Popen[bytes]":
    script = str(_APP / ("team.py" if workspace.people.team else "local.py"))
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    quiet = ["--logger.hideWelcomeMessage", "true", "--server.headless", "true", "--server.address", HOST]
    environment = {**os.environ, "BERDSEYE_WORKSPACE": str(workspace.folder)}
    # A session of its own, so that Ctrl-C reaches it through us alone and in order.
    return subprocess.Popen([*command, *quiet], cwd=_APP, env=environment, start_new_session=True)


def _end_on_signals(ending: threading.Event) -> None:
    def end(_number: int, _frame: FrameType | None) -> None:
        ending.set()

    # SIGHUP: the terminal was closed. Windows has none.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)


def _exchange(workspace: Workspace, server: Server, ending: threading.Event) -> None:
    """Send what waits as soon as Label Studio answers, and look for annotations made there now and then."""
    # Imported while Label Studio starts: the app should not wait for these.
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import pull_workspace, push_workspace
    from berdseye.annotation.label_studio.exchange_state import waiting
    from berdseye.detectors.labelling import adopted_predictions

    judgments = Judgments.open(workspace.judgments_url)
    received, ready, complaint = 0.0, False, ""
    stuck, tried = 0, 0.0
    warned: set[str] = set()
    while not ending.wait(_LOOK_EVERY if ready else 1.0):
        try:
            if not server.answers():
                continue
            if not ready:
                note("Label Studio answers.")
                ready = True
            if time.monotonic() - received > _RECEIVE_EVERY:
                for warning in pull_workspace(workspace, judgments).warnings:
                    if warning not in warned:
                        note(f"Label Studio: {warning}")
                        warned.add(warning)
                received = time.monotonic()
            # What waits for a project that is gone, or of another server, waits on: that is looked at less often.
            now = waiting(judgments)
            if now and (now != stuck or time.monotonic() - tried > _RECEIVE_EVERY):
                push_workspace(workspace, judgments, adopted_predictions(workspace))
                stuck, tried = waiting(judgments), time.monotonic()
        except Exception as error:  # whatever goes wrong here must not end the exchange for good
            if str(error) != complaint:  # the same trouble is told once
                complaint = str(error)
                note(f"Label Studio: {complaint or repr(error)} What should go there waits; it is tried again.")
