"""Signing in with either kind of token: personal access tokens are exchanged for others that soon end."""

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable

import httpx
import pytest

from berdseye.annotation.label_studio.connection import TokenAuth, connect, translated
from berdseye.annotation.label_studio.server import Server
from berdseye.data.errors import BadInputError, UnavailableError
from berdseye.data.workspace import Workspace

URL = "https://labels.example.org/ls"


def jwt(**claims: object) -> str:
    """A token of this form; nobody here checks signatures."""
    body = urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{body}.c2ln"


class Far:
    """A server whose clock is an hour off; `takes` says which access tokens it takes."""

    def __init__(self) -> None:
        self.sold = 0
        self.asked: list[str] = []
        self.takes: Callable[[int], bool] = lambda _: True
        self.refresh_status = 200

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/ls/api/token/refresh/":
            assert json.loads(request.content) == {"refresh": PERSONAL}
            assert "Authorization" not in request.headers
            self.sold += 1
            there = time.time() + 3600
            body = {"access": jwt(token_type="access", iat=there, exp=there + 300, n=self.sold)}
            return httpx.Response(self.refresh_status, json=body if self.refresh_status == 200 else "no")
        self.asked.append(request.headers["Authorization"])
        return httpx.Response(200 if self.takes(self.sold) else 401)


PERSONAL = jwt(token_type="refresh", exp=9e9)


@pytest.fixture
def far() -> Far:
    return Far()


def client(far: Far, token: str = PERSONAL, clock: Callable[[], float] = time.time) -> httpx.Client:
    return httpx.Client(transport=httpx.MockTransport(far), auth=TokenAuth(URL, token, clock))


def test_a_legacy_token_is_sent_as_it_is(far: Far) -> None:
    assert client(far, "0" * 40).get(f"{URL}/api/x").status_code == 200
    assert (far.asked, far.sold) == ([f"Token {'0' * 40}"], 0)


def test_an_access_token_is_used_till_shortly_before_its_end(far: Far) -> None:
    now = [1000.0]
    with client(far, clock=lambda: now[0]) as http:
        for seconds, sold in ((0, 1), (260, 1), (275, 2), (500, 2), (9999, 3)):
            now[0] = 1000.0 + seconds
            http.get(f"{URL}/api/x")
            assert far.sold == sold, seconds
    assert all(one.startswith("Bearer e30.") for one in far.asked)


def test_one_that_the_server_takes_no_more_is_renewed_once(far: Far) -> None:
    with client(far) as http:
        http.get(f"{URL}/api/x")
        far.takes = lambda sold: sold == 2
        assert http.post(f"{URL}/api/x", json={"kept": 1}).status_code == 200
        far.takes = lambda _: False
        assert http.get(f"{URL}/api/x").status_code == 401
    assert (far.sold, len(far.asked)) == (3, 5)


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [(401, BadInputError, "revoked"), (403, BadInputError, "account page"), (502, UnavailableError, "does not answer")],
)
def test_a_refusal_is_reported_with_its_meaning(far: Far, status: int, error: type[Exception], said: str) -> None:
    far.refresh_status = status
    with client(far) as http, pytest.raises(error, match=said), translated(URL):
        http.get(f"{URL}/api/x")


@pytest.mark.label_studio
def test_a_personal_access_token_of_a_real_server(
    server: Server, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    legacy = {"Authorization": f"Token {server.token}"}
    with httpx.Client(base_url=server.url, headers=legacy, trust_env=False, timeout=60) as http:
        http.post("/api/token/", json={})
        for old in http.get("/api/token/").json():
            http.post("/api/token/blacklist/", json={"refresh": old["token"]})
        token = http.post("/api/token/", json={}).json()["token"]
        monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_URL", f"{server.url}/")
        monkeypatch.setenv("BERDSEYE_LABEL_STUDIO_TOKEN", token)
        connection = connect(workspace)
        assert (connection.personal, connection.account) == (True, server.credentials.email)
        auth = connection.client._client_wrapper.httpx_client.httpx_client.auth
        first, auth._access = auth._access, "e30.e30.e30"  # as if the server's keys had changed
        assert abs(connection.time().timestamp() - time.time()) < 60
        assert auth._access not in (first, "e30.e30.e30")
        http.post("/api/token/blacklist/", json={"refresh": token})
    with pytest.raises(BadInputError, match="revoked") as raised:
        connect(workspace)
    assert token not in str(raised.value)
