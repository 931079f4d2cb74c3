"""Servers on loopback, names that resolve to them, and an address that passes for a public one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from ipaddress import IPv4Address, IPv6Address, ip_address
from multiprocessing.context import ForkServerContext

import pytest
from web_servers import Site, serving

from berdseye.data.web import addresses, days, pages
from tests.killable import fork_server

PUBLIC = "127.0.0.2"


@pytest.fixture
def start() -> Iterator[Callable[..., Site]]:
    """Starts servers, which end with the test."""
    with ExitStack() as running:
        yield lambda host="127.0.0.1", port=0: running.enter_context(serving(Site(host, port)))


@pytest.fixture
def today(monkeypatch: pytest.MonkeyPatch) -> str:
    """One day throughout the test, so that midnight may pass while it runs."""
    day = date(2026, 5, 3)
    for module in (days, pages):
        monkeypatch.setattr(module, "today", lambda: day)
    return day.isoformat()


@pytest.fixture
def site(start: Callable[..., Site]) -> Site:
    return start()


@pytest.fixture
def public(start: Callable[..., Site], monkeypatch: pytest.MonkeyPatch) -> Site:
    """A server on a loopback address that is taken for a public one; every other address is judged as it is."""
    judged = addresses.is_public

    def is_public(address: IPv4Address | IPv6Address) -> bool:
        return address == ip_address(PUBLIC) or judged(address)

    monkeypatch.setattr(addresses, "is_public", is_public)
    return start(PUBLIC)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    """What names resolve to, answer after answer (the last one stays); names not in it resolve as ever."""
    answers: dict[str, list[list[str]]] = {}
    ever = addresses.resolve

    def resolve(host: str, port: int) -> list[str]:
        if host not in answers:
            return ever(host, port)
        return answers[host].pop(0) if len(answers[host]) > 1 else answers[host][0]

    monkeypatch.setattr(addresses, "resolve", resolve)
    return answers


@pytest.fixture(scope="session")
def processes() -> ForkServerContext:
    return fork_server()
