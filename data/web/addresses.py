"""Which web addresses may be fetched: public ones over http and https, checked at the moment of connecting.

The domain of an address is determined with the public suffix list that tldextract ships; nothing is downloaded.
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


_HOST = re.compile(r"[A-Za-z0-9_.-]+|[0-9A-Fa-f:.]+")
_LONGEST = 4000
_TRIED = 4
_NAT64 = IPv6Network("64:ff9b::/96")
_PUBLIC_IPV6 = IPv6Network("2000::/3")
# Reserved by IANA, but missing from the tables of some Python versions.
_SET_ASIDE = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"), IPv6Network("3fff::/20"))


@lru_cache(maxsize=1)
def suffixes() -> "TLDExtract":
    """The public suffix list."""
    from tldextract import TLDExtract  # imported here since it imports requests, which takes time

    return TLDExtract(suffix_list_urls=(), cache_dir=None)


@lru_cache(maxsize=4096)
def registered_domain(url: str) -> str:
    """The registered domain of an address, `example.co.uk` of `https://www.example.co.uk/page`.

    Without a registered domain it is the host; for a text that is not a web address it is empty.
    """
    if not url.startswith(("http://", "https://")):
        return ""
    parts = suffixes()(url)
    return parts.top_domain_under_public_suffix or urlsplit(url).hostname or ""


class ForbiddenAddressError(BadInputError):
    """A web address that must not be fetched."""


class PrivateAddressError(ForbiddenAddressError):
    """A host that resolves to a private, loopback, link-local or otherwise not public address."""


def web_address(url: str, base: httpx.URL | None = None) -> httpx.URL:
    """Parse `url` (relative to `base`) without its fragment; raises `ForbiddenAddressError` unless it is http or https.

    The message of the error begins with a verb, to be read after the address.
    """
    try:
        parsed = httpx.URL(url) if base is None else base.join(url)
    except httpx.InvalidURL as error:
        raise ForbiddenAddressError(f"is not a web address: {error}") from error
    if parsed.scheme not in ("http", "https"):
        raise ForbiddenAddressError(f"has the scheme '{parsed.scheme[:20]}', which is neither http nor https")
    if not _HOST.fullmatch(parsed.raw_host.decode("ascii")):
        raise ForbiddenAddressError("has no valid host")
    if parsed.userinfo:
        raise ForbiddenAddressError("contains a user name or password")
    if parsed.port is not None and not 0 < parsed.port < 1 << 16:
        raise ForbiddenAddressError(f"has the invalid port {parsed.port}")
    if len(url) > _LONGEST:
        raise ForbiddenAddressError(f"is longer than {_LONGEST} characters")
    return parsed.copy_with(fragment=None)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an IP address is that of a single host on the public internet.

    An IPv4 address embedded in an IPv6 one (mapped, NAT64 of RFC 6052, 6to4) decides for both. Among IPv6 addresses, only
    2000::/3 is public, the only block allocated so far.
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
    """The IP addresses of a host, in the order in which the system tries them; raises `OSError`."""
    records = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(record[4][0]) for record in records))


class PublicNetwork(httpcore.AsyncNetworkBackend):
    """A network backend that connects to public addresses only.

    A host is resolved once per connection, and refused if any of its addresses is not public. The connection goes to the
    address that was checked, so that a name server that changes its answer a moment later has no effect. HTTP and TLS use the
    host's name, so certificates are checked against it. With `allow_private`, every address is allowed.
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
        """Connect to `host`; raises `PrivateAddressError`, or httpcore's `ConnectError` or `ConnectTimeout`."""
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
                # A name server that does not respond blocks its thread for longer than the timeout.
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
