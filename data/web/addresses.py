"""Which addresses may be fetched: public ones over http and https, and the address checked is the one connected to.

Domains that addresses belong to, by the public suffix list that tldextract ships: nothing is downloaded.
"""

import re
import socket
from collections.abc import Iterable
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio.to_thread
import httpcore
import httpx

from berdseye.data.errors import BadInputError

if TYPE_CHECKING:
    from tldextract import TLDExtract


@lru_cache(maxsize=1)
def suffixes() -> "TLDExtract":
    """The public suffix list."""
    from tldextract import TLDExtract  # brings requests along, which only those who ask should wait for

    return TLDExtract(suffix_list_urls=(), cache_dir=None)


@lru_cache(maxsize=4096)
def registered_domain(url: str) -> str:
    """`example.co.uk` of `https://www.example.co.uk/page`: the part somebody registered, or the host where there is none;
    empty for what is no web address."""
    if not url.startswith(("http://", "https://")):
        return ""
    found = suffixes()(url)
    return found.top_domain_under_public_suffix or urlsplit(url).hostname or ""


_HOST = re.compile(r"[A-Za-z0-9_.-]+|[0-9A-Fa-f:.]+")
_LONGEST = 4000
_TRIED = 4
_NAT64 = IPv6Network("64:ff9b::/96")
_PUBLIC_IPV6 = IPv6Network("2000::/3")
# Set aside by IANA, which the tables of some Python versions do not know yet.
_SET_ASIDE = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"), IPv6Network("3fff::/20"))


class ForbiddenAddressError(BadInputError):
    """A web address that must not be fetched."""


class PrivateAddressError(ForbiddenAddressError):
    """A host that resolves to a private, loopback, link-local or otherwise not public address."""


def web_address(url: str, base: httpx.URL | None = None) -> httpx.URL:
    """`url` (relative to `base`) without its fragment; raises `ForbiddenAddressError` unless it is http or https."""
    try:
        parsed = httpx.URL(url) if base is None else base.join(url)
    except httpx.InvalidURL as error:
        raise ForbiddenAddressError(f"is no web address: {error}") from error
    if parsed.scheme not in ("http", "https"):
        raise ForbiddenAddressError(f"'{parsed.scheme[:20]}' is neither http nor https")
    if not _HOST.fullmatch(parsed.raw_host.decode("ascii")):
        raise ForbiddenAddressError("names no host")
    if parsed.userinfo:
        raise ForbiddenAddressError("holds a user name or password")
    if parsed.port is not None and not 0 < parsed.port < 1 << 16:
        raise ForbiddenAddressError(f"names port {parsed.port}, which there is not")
    if len(url) > _LONGEST:
        raise ForbiddenAddressError(f"is longer than {_LONGEST} characters")
    return parsed.copy_with(fragment=None)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is that of one host on the public internet.

    An IPv4 address wrapped in an IPv6 one (mapped, NAT64 of RFC 6052, 6to4) is judged by what it wraps. Of IPv6 only
    2000::/3 is public, the one block handed out so far.
    """
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address.sixtofour is not None:
            return is_public(address.sixtofour)
        if address not in _PUBLIC_IPV6:
            return False
    if any(address in network for network in _SET_ASIDE):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of a host, in the order the system would try them; raises `OSError`."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[4][0]) for place in found))


class PublicNetwork(httpcore.AsyncNetworkBackend):
    """Connects to public addresses only.

    A host is resolved once a connection, refused if any of its addresses is not public, and the connection is made to
    the very address that was checked: a name server that answers otherwise a moment later changes nothing. HTTP and
    TLS go on with the host's name, so certificates are checked against that. With `allow_private` all addresses are
    connected to.
    """

    def __init__(self, *, allow_private: bool = False) -> None:
        self._allow_private = allow_private
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to `host`; raises `PrivateAddressError` or httpcore's `ConnectError` and `ConnectTimeout`."""
        failure: Exception = httpcore.ConnectError(f"the name {host} has no address")
        for address in (await self._checked(host, port, timeout))[:_TRIED]:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def _checked(self, host: str, port: int, timeout: float | None) -> list[str]:
        try:
            with anyio.fail_after(timeout):
                # A name server that does not answer holds its thread for longer than anybody should wait for it.
                addresses = await anyio.to_thread.run_sync(partial(resolve, host, port), abandon_on_cancel=True)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"the name {host} was not resolved in time") from error
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the name {host} cannot be resolved") from error
        if not self._allow_private:
            for address in addresses:
                if not is_public(ip_address(address)):
                    raise PrivateAddressError(f"{host} is at {address}, which is not a public address")
        return addresses
