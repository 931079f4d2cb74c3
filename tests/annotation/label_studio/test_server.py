"""The server that Berdseye starts: private to this machine, its secrets to their owner."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

from berdseye.annotation.label_studio.connection import connect
from berdseye.annotation.label_studio.server import Server, make_credentials, read_credentials, running, start
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.workspace import Workspace

live = pytest.mark.label_studio


@live
def test_it_answers_and_is_found_by_other_processes(server: Server, server_folder: Path) -> None:
    assert server.answers()
    code = "import sys; from pathlib import Path; from berdseye.annotation.label_studio.server import running; "
    code += "found = running(Path(sys.argv[1])); print(found.url, found.pid)"
    shown = subprocess.run(
        [sys.executable, "-c", code, str(server_folder)],
        capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    assert shown.stdout.split() == [server.url, str(server.pid)]


@live
def test_starting_again_returns_the_one_that_runs(server: Server, server_folder: Path) -> None:
    assert start(server_folder, 0) == server


@live
def test_the_workspace_finds_its_own_server(
    server: Server, server_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BERDSEYE_LABEL_STUDIO_URL", raising=False)
    connection = connect(Workspace.create(server_folder.parent))
    assert connection.url == server.url
    assert connection.organization is not None


@live
def test_it_listens_on_the_loopback_alone(server: Server) -> None:
    port = int(server.url.rsplit(":", 1)[1])
    bound = {
        c.laddr.ip for c in psutil.net_connections("tcp") if c.status == psutil.CONN_LISTEN and c.laddr.port == port
    }
    assert bound == {"127.0.0.1"}


@live
def test_sign_up_is_closed(server: Server) -> None:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as http:
        page = http.get("/user/signup/")
        token = http.cookies.get("csrftoken", "")
        answer = http.post(
            "/user/signup/",
            data={
                "email": "intruder@example.org", "password": "long-enough-1",
                "csrfmiddlewaretoken": token, "allow_newsletters": "false",
            },
            headers={"X-CSRFToken": token, "Referer": server.url},
        )  # fmt: skip
        listed = http.get("/api/users/", headers={"Authorization": f"Token {server.token}"}).text
    assert page.status_code in (200, 302, 403)
    assert answer.status_code == httpx.codes.FORBIDDEN
    assert "intruder@example.org" not in listed


@live
def test_a_page_that_points_its_own_name_here_is_refused(server: Server) -> None:
    with httpx.Client(trust_env=False, timeout=60) as http:
        answer = http.get(f"{server.url}/api/version", headers={"Host": "evil.example"})
    assert answer.status_code == httpx.codes.BAD_REQUEST


@live
def test_the_admin_can_sign_in_with_the_stored_password(server: Server) -> None:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as http:
        http.get("/user/login/")
        answer = http.post(
            "/user/login/",
            data={
                "email": server.credentials.email, "password": server.credentials.password,
                "csrfmiddlewaretoken": http.cookies["csrftoken"],
            },
            headers={"Referer": server.url},
        )  # fmt: skip
        assert answer.status_code == httpx.codes.FOUND
        assert http.get("/api/current-user/whoami").json()["email"] == server.credentials.email


def test_a_taken_port_is_named_and_nothing_started(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BadInputError, match=f"Port {port}.*--port"):
            start(tmp_path / "ls", port)
    assert running(tmp_path / "ls") is None


def test_an_impossible_port_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="70000"):
        start(tmp_path, 70000)


def test_credentials_are_made_once_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = make_credentials(tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "credentials.json").stat().st_mode) == 0o600
    assert len(made.token) >= 40
    assert make_credentials(tmp_path) == made == read_credentials(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["credentials.json"]


def test_damaged_credentials_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "credentials.json").write_text('{"email": ')
    with pytest.raises(BadInputError, match="damaged"):
        make_credentials(tmp_path)


def test_an_address_left_by_a_dead_or_foreign_process_is_nobody(tmp_path: Path) -> None:
    finished = subprocess.Popen([sys.executable, "-c", ""])
    finished.wait()
    for pid in (finished.pid, os.getpid()):
        (tmp_path / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:1", "pid": pid}))
        assert running(tmp_path) is None
    (tmp_path / "server.json").write_text("{")
    assert running(tmp_path) is None


def test_a_start_that_dies_shows_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("first line\nthe reason it died\n")
    with pytest.raises(UnavailableError, match="the reason it died"):
        Server(tmp_path, "http://127.0.0.1:1", 2**22 - 7).ready(1)


@live
def test_another_server_on_our_port_is_not_taken_for_ours(server: Server, tmp_path: Path) -> None:
    make_credentials(tmp_path)
    with pytest.raises(UnavailableError, match="does not accept the token"):
        Server(tmp_path, server.url, server.pid).ready(10)


@pytest.mark.label_studio
def test_the_command_that_is_told_to_stop_ends_the_server(tmp_path: Path) -> None:
    """The page Jobs stops a job with SIGTERM."""
    workspace = Workspace.create(tmp_path / "workspace")
    port = socket.create_server(("127.0.0.1", 0))
    number = port.getsockname()[1]
    port.close()
    program = Path(sys.executable).with_name("berdseye")
    words = [str(program), "label-studio", "--workspace", str(workspace.folder), "--port", str(number)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as command:
        until = time.monotonic() + 120
        while (server := running(workspace.label_studio_folder)) is None and time.monotonic() < until:
            assert command.poll() is None
            time.sleep(0.2)
        assert server is not None
        command.send_signal(signal.SIGTERM)
        assert command.wait(60) == 128 + signal.SIGTERM
    assert not server.alive()
    assert running(workspace.label_studio_folder) is None
