"""What the server answers without a page: to strangers, to other sites, to people without the right, and to programs.

Real servers, started as `berdseye app` starts them.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from unittest.mock import MagicMock

import httpx
import oidc_provider_mock
import pytest
import tomli_w
from oidc_provider_mock import User
from page_stream import Visitor
from streamlit.web.server.starlette.starlette_app import create_streamlit_routes
from websockets.exceptions import InvalidStatus

from berdseye.annotation.judgments.log import Judgments, PairRecord
from berdseye.app.serving.gate import PUBLIC, ROUTES, check_settings
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from tests.app.serving.app_process import answers, app_process, listening, until

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:authlib")
EVIL = "evil.example"
KNOWN = {
    "/_stcore/health": "anyone: it says `ok`",
    "/_stcore/metrics": "administer",
    "/_stcore/host-config": "anyone: constants that the front end needs",
    "/media/{file_id:path}": "whoever the file was made for",
    "/_stcore/upload_file/{session_id}/{file_id}": "train",
    "/component/{path:path}": "explore",
    "/_stcore/bidi-components/{path:path}": "explore",
    "/_stcore/stream": "anyone: pages ask who is there",
    "/auth/login": "anyone",
    "/auth/logout": "anyone",
    "/oauth2callback": "anyone: it takes what the provider signed",
    "/_stcore/agent/interact": "nobody",
    "/_stcore/agent/openapi.json": "nobody",
    "/_stcore/agent/mcp": "nobody",
    "": "anyone: Streamlit's own front end",
}
"""Every route of the server and who may ask for it in a team."""
ROLES = {"@example.org": "annotator", "rea@example.org": "researcher", "ada@example.org": "admin"}
SECRETS = {"BERDSEYE_OIDC_CLIENT_SECRET": "the-client-3a1", "BERDSEYE_COOKIE_SECRET": "the-cookies-of-the-test-77aa10"}
AGENT = {"STREAMLIT_SERVER_ENABLE_AGENT_API": "true"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@dataclass(frozen=True)
class Running:
    """A server and its workspace."""

    port: int
    workspace: Workspace

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"


@contextmanager
def running(workspace: Workspace, folder: Path, environment: Mapping[str, str]) -> Iterator[Running]:
    log = folder / "log"
    with ExitStack() as process:
        with pytest.MonkeyPatch.context() as patched, listening() as port:  # the app takes the next free one
            for name, value in environment.items():
                patched.setenv(name, value)
            patched.delenv("BERDSEYE_JUDGMENTS_URL", raising=False)
            process.enter_context(app_process(workspace, port, log))
            until(lambda: "http://" in log.read_text(encoding="utf-8"), log)
        taken = int(log.read_text(encoding="utf-8").split("Berdseye       http://127.0.0.1:")[1].split()[0])
        until(lambda: answers(taken), log)
        yield Running(taken, workspace)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("local")
    with running(Workspace.create(folder / "workspace"), folder, {}) as server:
        yield server


@pytest.fixture(scope="module")
def local_with_agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("agents")
    with running(Workspace.create(folder / "workspace"), folder, AGENT) as server:
        yield server


def set_people(workspace: Workspace, **changed: object) -> None:
    section = {"mode": "team", "client_id": "berdseye", "roles": ROLES, **changed}
    (workspace.folder / "berdseye.toml").write_text(tomli_w.dumps({"people": section}))


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    users = [
        User(sub=name, claims={"name": name.title(), "email": f"{name}@example.org", "email_verified": True})
        for name in ("ana", "rea", "ada")
    ]
    with oidc_provider_mock.run_server_in_thread(
        port=0, user_claims=users, access_token_max_age=timedelta(minutes=5)
    ) as provider:
        yield f"http://localhost:{provider.server_port}"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, issuer: str) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("team")
    workspace = Workspace.create(folder / "workspace")
    held = Judgments.open(workspace.judgments_url)
    pair = PairRecord("made", "q", "Should cities ban cars?", "They should.", None, "web", "", "Streets are quieter.")
    (key,) = held.add_pairs([pair])
    for name in ("Bo", "Cy"):
        held.judge(held.sign_in(name), key, "supports", source="annotate", comment="known to researchers")
    held.engine.dispose()
    set_people(workspace, issuer=issuer)
    with running(workspace, folder, SECRETS) as server:
        yield server


@pytest.fixture(scope="module")
def people(team: Running) -> dict[str, Visitor]:
    """A visitor of each role, and a stranger."""
    found = {name: Visitor(team.url).sign_in(name) for name in ("ana", "rea", "ada")}
    return {"stranger": Visitor(team.url), **found}


def status(visitor: Visitor, path: str, method: str = "GET", **options: object) -> int:
    return visitor.http.request(method, path, follow_redirects=False, **options).status_code  # type: ignore[arg-type]


# What there is --------------------------------------------------------------------------------------------------------


def test_every_route_of_streamlit_is_known_here() -> None:
    """A new release brings new ones: look at each, say in `berdseye.app.serving.gate.ROUTES` who may ask, and write it
    into `KNOWN`."""
    found = {getattr(route, "path", None) or "" for route in create_streamlit_routes(MagicMock())}
    assert found == set(KNOWN)


def test_what_nobody_has_looked_at_is_closed() -> None:
    assert ROUTES["_stcore/"] is None
    assert all(f"/{path}" in KNOWN for path in PUBLIC)
    closed = [path for path, who in KNOWN.items() if not who.startswith("anyone")]
    assert all(any(path[1:].startswith(start) for start in (*ROUTES, "media/")) for path in closed)


# Local mode -----------------------------------------------------------------------------------------------------------


def test_the_agent_protocol_is_off(local: Running) -> None:
    asked = httpx.post(f"{local.url}/_stcore/agent/interact", json={})
    assert (asked.status_code, asked.json()["error"]["code"]) == (403, "not_available")
    asked = httpx.post(f"{local.url}/_stcore/agent/mcp", json=CALL)
    assert asked.status_code == 400
    assert "does not serve the agent API" in asked.json()["error"]["message"]


def test_switched_on_it_answers_programs_and_no_web_page(local_with_agents: Running) -> None:
    """In local mode the pages know no sign-in either; who may reach them may reach this."""
    url = f"{local_with_agents.url}/_stcore/agent/mcp"
    assert httpx.post(url, json=CALL).json()["result"]["tools"]
    for origin in (f"http://{EVIL}", "http://localhost:3000", "null"):
        assert httpx.post(url, json=CALL, headers={"Origin": origin}).status_code == 403
    assert httpx.post(url, json=CALL, headers={"Host": EVIL}).status_code == 400


@pytest.mark.parametrize(
    "host", [EVIL, f"{EVIL}:8501", "localhost.evil.example", "127.0.0.1.evil.example", "0.0.0.0", ""]
)
def test_another_host_name_is_refused(local: Running, host: str) -> None:
    """A name that is made to point here after its page has loaded (DNS rebinding)."""
    for path in ("/", "/_stcore/health", "/_stcore/host-config", "/media/x"):
        assert httpx.get(f"{local.url}{path}", headers={"Host": host}).status_code == 400, path
    visitor = Visitor(local.url)
    with pytest.raises(InvalidStatus), visitor.stream(origin=f"http://{host}", host=host or "x"):
        pass


@pytest.mark.parametrize("origin", [f"http://{EVIL}", "http://localhost:3000", "http://127.0.0.1:8080", "null"])
def test_a_page_of_another_origin_opens_no_socket(local: Running, origin: str) -> None:
    """Streamlit alone would take any port of this machine: of a Label Studio that shows a hostile page, for instance."""
    visitor = Visitor(local.url)
    with pytest.raises(InvalidStatus) as refused, visitor.stream(origin=origin):
        pass
    assert refused.value.response.status_code == 403
    with visitor.stream() as stream:
        stream.run()
        assert stream.session_id


def test_browsers_may_fetch_nothing_elsewhere_and_show_it_in_no_other_site(local: Running) -> None:
    policy = httpx.get(local.url).headers["Content-Security-Policy"]
    assert "img-src 'self' data: blob:;" in policy
    assert "frame-ancestors 'self'" in policy
    assert "connect-src 'self'" in policy
    assert httpx.get(f"{local.url}/_stcore/health").headers["X-Content-Type-Options"] == "nosniff"


def test_a_file_is_uploaded_by_its_own_page_alone(local: Running) -> None:
    visitor = Visitor(local.url)
    with visitor.stream() as stream:
        stream.run()
        path = f"/_stcore/upload_file/{stream.session_id}/one"
        file = {"file": ("a.csv", b"a,b\n")}
        assert status(visitor, path, "PUT", files=file) == 403, "without the token that only its pages can read"
        token = {"X-Xsrftoken": visitor.xsrf}
        assert status(visitor, path, "PUT", files=file, headers={**token, "Origin": f"http://{EVIL}"}) == 403
        assert status(visitor, "/_stcore/upload_file/somebody/one", "PUT", files=file, headers=token) == 400
        assert status(visitor, path, "PUT", files=file, headers=token) == 204


def test_nobody_else_may_read_answers(local: Running) -> None:
    for path in ("/_stcore/health", "/_stcore/host-config", "/_stcore/metrics", "/media/x"):
        answer = httpx.get(f"{local.url}{path}")
        assert "Access-Control-Allow-Origin" not in answer.headers, path


def test_the_address_of_the_start_page_leads_to_the_root_of_this_server(local: Running) -> None:
    for path, to in (
        ("/home", "/"),
        ("/home/?set=debate&corpora=a&corpora=b%20c", "/?set=debate&corpora=a&corpora=b%20c"),
        ("/home?next=//evil.example", "/?next=//evil.example"),
    ):
        answer = httpx.get(f"{local.url}{path}")
        assert (answer.status_code, answer.headers["Location"]) == (307, to)
    for path in ("/", "//home", "/annotate", "/home/evil.example", "/_stcore/home"):
        assert not httpx.get(f"{local.url}{path}").is_redirect, path


# Team mode ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value"), [("server.enableAgentApi", True), ("server.trustedUserHeaders", {"X-Email": "email"})]
)
def test_a_setting_that_lets_people_past_the_sign_in_is_refused(
    setting: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_settings()
    monkeypatch.setattr("berdseye.app.serving.gate.st.get_option", lambda name: value if name == setting else None)
    with pytest.raises(BadInputError, match=setting):
        check_settings()


def test_a_team_does_not_start_with_the_agent_protocol_on(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "workspace")
    set_people(workspace, issuer="http://localhost:9")
    with listening() as port:
        pass
    command = [sys.executable, "-m", "berdseye.app.cli", "app", "--no-label-studio", "--port", str(port)]
    ended = subprocess.run(
        [*command, "--workspace", str(workspace.folder)],
        cwd=ROOT, env={**os.environ, **SECRETS, **AGENT}, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    assert "setting server.enableAgentApi is on" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("who", ["stranger", "ana", "rea", "ada"])
def test_the_agent_protocol_is_for_nobody_in_a_team(people: dict[str, Visitor], who: str) -> None:
    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        for name in ("interact", "mcp", "openapi.json"):
            assert status(people[who], f"/_stcore/agent/{name}", method) == 403


def test_routes_ask_who_is_there(people: dict[str, Visitor]) -> None:
    asked = {
        "/_stcore/metrics": {"ada"},
        "/_stcore/script-health-check": set(),
        "/_stcore/anything-new": set(),
        "/component/x/index.html": {"ana", "rea", "ada"},
        "/_stcore/bidi-components/x/a.js": {"ana", "rea", "ada"},
        "/app/static/x": {"ana", "rea", "ada"},
        "/_stcore/health": {"stranger", "ana", "rea", "ada"},
    }
    for path, let_in in asked.items():
        assert {who for who, visitor in people.items() if status(visitor, path) != 403} == let_in, path


def test_uploads_are_for_those_whose_page_takes_files(people: dict[str, Visitor]) -> None:
    said = {}
    for who, visitor in people.items():
        with visitor.stream() as stream:
            stream.run()
            said[who] = status(
                visitor,
                f"/_stcore/upload_file/{stream.session_id}/one",
                "PUT",
                files={"file": ("a.csv", b"a,b\n")},
                headers={"X-Xsrftoken": visitor.xsrf},
            )
    assert said == {"stranger": 403, "ana": 403, "rea": 204, "ada": 204}


def test_a_file_is_for_whoever_it_was_made_for_while_they_may(
    team: Running, people: dict[str, Visitor], issuer: str
) -> None:
    with people["rea"].stream() as stream:
        stream.run("agreement")
        address = stream.take("Judgments.csv")
        assert "known to researchers" in people["rea"].http.get(address).text
        assert {who for who, v in people.items() if status(v, address) == 200} == {"rea"}
        assert people["ada"].http.head(address).status_code == 403
        set_people(team.workspace, issuer=issuer, roles={"ada@example.org": "admin"})
        assert status(people["rea"], address) == 403, "the role was taken away"
        assert "Failed" in stream.take("Agreement.csv", works=False)
        set_people(team.workspace, issuer=issuer, session_hours=0.000001)
        assert status(people["rea"], address) == 403, "the sign-in has ended"
        set_people(team.workspace, issuer=issuer)
        assert status(people["rea"], address) == 200


def test_a_cookie_of_another_app_signs_nobody_in(team: Running, people: dict[str, Visitor]) -> None:
    forged = Visitor(team.url)
    for name, value in (("_streamlit_user", "eyJlbWFpbCI6ICJhZGFAZXhhbXBsZS5vcmcifQ.x.y"), ("_streamlit_user", '"')):
        forged.http.cookies.set(name, value)
        assert status(forged, "/_stcore/metrics") == 403
    assert status(people["ada"], "/_stcore/metrics") == 200


def test_headers_that_name_somebody_are_not_believed(team: Running) -> None:
    visitor = Visitor(team.url)
    for name in ("X-Forwarded-Email", "X-Auth-Request-Email", "X-Forwarded-User", "Remote-User", "Authorization"):
        visitor.headers[name] = "ada@example.org"
    with visitor.stream() as stream:
        stream.run("runs")
        assert "Sign in to judge passages with your team." in stream.text()
    assert visitor.http.get("/_stcore/metrics", headers=visitor.headers).status_code == 403


def test_an_address_names_nobody_else(people: dict[str, Visitor]) -> None:
    with people["ana"].stream() as stream:
        stream.run(
            "runs", query="annotator=Ada&person=ada@example.org&name=Ada&as=ada@example.org&email=ada@example.org"
        )
        assert "is an annotator" in stream.text().replace("\\", "")
        assert "Ada" not in stream.sidebar()


@pytest.mark.parametrize("origin", [f"http://{EVIL}", "http://localhost:3000"])
def test_a_page_of_another_site_opens_no_socket_with_the_cookies_of_a_member(
    people: dict[str, Visitor], origin: str
) -> None:
    with pytest.raises(InvalidStatus), people["ada"].stream(origin=origin):
        pass
