"""The servers of `berdseye app`: Streamlit and Label Studio on loopback, both ended by Ctrl-C, and the exchange of judgments
between them."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path
from types import FrameType

from berdseye.annotation.label_studio.server import Server, running, start
from berdseye.app.access.oidc import auth_secrets
from berdseye.app.commands.console import note
from berdseye.app.serving.ports import HOST, free_port
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace

_log = logging.getLogger(__name__)
_PULL_EVERY = 30.0
_CHECK_EVERY = 5.0
_APP = Path(__file__).parents[1]


def serve(workspace: Workspace, port: int, label_studio_port: int | None) -> int:
    """Serve until Ctrl-C or until the app ends, and return the app's exit status. Without a `label_studio_port`, Label
    Studio does not start."""
    port = free_port(port)
    if workspace.people.team:
        auth_secrets(workspace.people, "", port)  # reports missing secrets to the person who starts the app
    ending = threading.Event()
    _end_on_signals(ending)  # first, so that nothing started later survives a Ctrl-C
    app = _start_app(workspace, port)
    server: Server | None = None
    try:
        if label_studio_port is not None:
            server = _start_label_studio(workspace, label_studio_port)
        _log.info("app: started, version %s, workspace %s, port %d", version("berdseye"), workspace.folder, port)
        note(f"Berdseye       http://{HOST}:{port}")
        if server is not None:
            note(
                f"Label Studio   {server.url}   (starting; to see how a person signs in: berdseye label-studio account NAME)"
            )
            threading.Thread(target=_exchange, args=(workspace, server, ending), daemon=True).start()
        note("Press Ctrl-C to end both." if server is not None else "Press Ctrl-C to end it.")
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
    if (server := running(folder)) is not None:
        return server
    try:
        return start(folder, free_port(port))
    except BerdseyeError as error:
        note(f"Label Studio does not start: {error} The app runs without it; judgments wait in Berdseye.")
        return None


def _start_app(workspace: Workspace, port: int) -> "subprocess.Popen[bytes]":
    script = str(_APP / ("team.py" if workspace.people.team else "local.py"))
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    quiet = ["--logger.hideWelcomeMessage", "true", "--server.headless", "true", "--server.address", HOST]
    environment = {**os.environ, "BERDSEYE_WORKSPACE": str(workspace.folder)}
    # In a session of its own, so that Ctrl-C reaches it only through this process and in order.
    return subprocess.Popen([*command, *quiet], cwd=_APP, env=environment, start_new_session=True)


def _end_on_signals(ending: threading.Event) -> None:
    def end(_number: int, _frame: FrameType | None) -> None:
        ending.set()

    # SIGHUP: the terminal was closed. Windows has no such signal.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)


def _exchange(workspace: Workspace, server: Server, ending: threading.Event) -> None:
    """Push waiting judgments once Label Studio answers, and pull the annotations made there every 30 seconds."""
    # Imported while Label Studio starts, so that the app does not wait for them.
    from berdseye.annotation.judgments.log import Judgments
    from berdseye.annotation.label_studio.exchange import pull_workspace, push_workspace
    from berdseye.annotation.label_studio.exchange_state import waiting
    from berdseye.detectors.labelling import adopted_predictions

    judgments = Judgments.open(workspace.judgments_url)
    pulled_at, ready, complaint = 0.0, False, ""
    still_waiting, pushed_at = 0, 0.0
    warned: set[str] = set()
    while not ending.wait(_CHECK_EVERY if ready else 1.0):
        try:
            if not server.answers():
                continue
            if not ready:
                note("Label Studio is ready.")
                ready = True
            if time.monotonic() - pulled_at > _PULL_EVERY:
                for warning in pull_workspace(workspace, judgments).warnings:
                    if warning not in warned:
                        note(f"Label Studio: {warning}")
                        warned.add(warning)
                pulled_at = time.monotonic()
            # Judgments for a deleted project, or for one on another server, stay waiting; they are retried less often.
            to_push = waiting(judgments)
            if to_push and (to_push != still_waiting or time.monotonic() - pushed_at > _PULL_EVERY):
                push_workspace(workspace, judgments, adopted_predictions(workspace))
                still_waiting, pushed_at = waiting(judgments), time.monotonic()
        except Exception as error:  # no error may end the exchange for good
            if str(error) != complaint:  # report a repeated error only once
                complaint = str(error)
                note(f"Label Studio: {complaint or repr(error)} Judgments wait in Berdseye; the push is retried.")
