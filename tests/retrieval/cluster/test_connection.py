"""Joining a cluster."""

import sys

import pytest

from berdseye.data.errors import BadInputError, BerdseyeError, UnavailableError
from berdseye.retrieval.cluster.connection import Connection, connect


@pytest.mark.parametrize("address", ["nowhere", "host:", ":6379", "ray://127.0.0.1:10001", ""])
def test_an_invalid_address_is_reported(address: str) -> None:
    with pytest.raises(BadInputError, match="is not the address of a cluster"):
        connect(address)


def test_an_address_where_nothing_listens_is_reported_at_once() -> None:
    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:9: There is no response"):
        connect("127.0.0.1:9")


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UnavailableError, match=r"A cluster needs Ray\..*\[cluster\]"):
        connect("local")


def test_a_process_stays_in_the_cluster_it_has_joined(cluster: Connection) -> None:
    assert cluster.address.startswith("127.0.0.1:")
    again = connect(cluster.address)
    again.close()
    assert cluster.cores() == [1, 1]  # it has not been left
    with pytest.raises(BerdseyeError, match=f"has already joined the cluster at {cluster.address}"):
        connect(f"localhost:{cluster.address.partition(':')[2]}")
