"""`berdseye app` as a process: its address, its port, and its end without anything left running."""

import signal
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest

from berdseye.app.serving.ports import HOST, free_port
from berdseye.data.errors import BerdseyeError
from berdseye.data.workspace import Workspace
from tests.app.serving.app_process import answers, app_process, listening, until


def children(pid: int) -> list[psutil.Process]:
    """Processes that this one started."""
    return psutil.Process(pid).children() if psutil.pid_exists(pid) else []


def test_a_port_in_use_is_reported_and_another_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    with listening() as port:
        other = free_port(port)
        assert other > port
        assert f"Port {port} is in use; using {other} instead." in capsys.readouterr().err


def test_a_free_port_is_taken_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    with listening() as port:
        pass
    assert free_port(port) == port
    assert capsys.readouterr().err == ""


def test_no_free_port_is_an_error_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Taken:
        def __enter__(self) -> "Taken":
            return self

        def __exit__(self, *_: object) -> None: ...

        def setsockopt(self, *_: object) -> None: ...

        def bind(self, _address: object) -> None:
            raise OSError("in use")

    monkeypatch.setattr("berdseye.app.serving.ports.socket.socket", Taken)
    with pytest.raises(BerdseyeError, match="--port"):
        free_port(9000)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGHUP])
def test_the_app_answers_where_it_says_and_ends_whole(
    workspace: Workspace, tmp_path: Path, ending: signal.Signals
) -> None:
    log = tmp_path / "log"
    with listening() as taken, app_process(workspace, taken, log) as process:
        until(lambda: "http://" in log.read_text(encoding="utf-8"), log)
        said = log.read_text(encoding="utf-8")
        assert f"Port {taken} is in use" in said
        port = int(said.split(f"http://{HOST}:")[1].split()[0])
        assert port != taken
        until(lambda: answers(port), log)
        started = children(process.pid)
        assert started
        process.send_signal(ending)
        assert process.wait(timeout=20) == 0
    assert not answers(port)
    assert not any(child.is_running() for child in started)
    said = log.read_text(encoding="utf-8")
    assert said.rstrip().endswith("Ended.")
    assert "Traceback" not in said
    kept = (workspace.folder / "logs" / "berdseye.log").read_text(encoding="utf-8")
    assert f"\tapp: started, version {version('berdseye')}, workspace {workspace.folder}, port {port}\n" in kept
    assert "\tapp: ended with status 0, " in kept


def test_ctrl_c_right_at_the_start_leaves_nothing_behind(workspace: Workspace, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with listening() as free:
        pass
    with app_process(workspace, free, log) as process:
        until(lambda: bool(children(process.pid)) or process.poll() is not None, log)
        started = children(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
    assert not any(child.is_running() for child in started)
    assert not answers(free)
