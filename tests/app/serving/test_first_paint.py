"""What is added to the documents that the server sends, and what is left as it is."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from berdseye.app.components.looks import STYLE
from berdseye.app.serving.first_paint import FirstPaint

DOCUMENT = f"<html><body><div>{'é' * 1000}</div></body></html>"


def document(request: Request) -> Response:
    fresh = request.headers.get("if-none-match") == '"same"'
    return Response(status_code=304) if fresh else HTMLResponse(DOCUMENT, headers={"etag": '"same"'})


def data(_request: Request) -> Response:
    return JSONResponse({"text": "</body>"}, headers={"etag": '"same"'})


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/", document), Route("/data", data)]
    app = Starlette(routes=routes, middleware=[Middleware(FirstPaint), Middleware(GZipMiddleware)])
    return TestClient(app, headers={"accept": "text/html,*/*", "accept-encoding": "gzip"})


def test_a_document_gets_the_style_at_its_end_and_keeps_its_text(client: TestClient) -> None:
    sent = client.get("/")
    before, _, after = sent.text.partition("</div>")
    assert before == DOCUMENT.partition("</div>")[0]
    assert STYLE in after
    assert after.endswith("</script></body></html>")
    assert int(sent.headers["content-length"]) == len(sent.content)


def test_a_document_that_the_browser_has_without_the_style_is_sent_again(client: TestClient) -> None:
    sent = client.get("/", headers={"if-none-match": '"same"'})
    assert (sent.status_code, STYLE in sent.text, "etag" in sent.headers) == (200, True, False)


def test_other_files_stay_as_they_are(client: TestClient) -> None:
    sent = client.get("/data")
    assert (sent.json(), sent.headers["etag"]) == ({"text": "</body>"}, '"same"')


def test_a_program_that_asks_for_no_document_gets_the_original(client: TestClient) -> None:
    assert client.get("/", headers={"accept": "*/*"}).text == DOCUMENT
