"""What may be fetched from where."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.web.addresses import ForbiddenAddressError, is_public, web_address

NOT_PUBLIC = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.8",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.9",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.88.99.1",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a00:1::",
    "2001::1",
    "2001:db8::1",
    "3fff::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%lo",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "100::1",
    "5f00::1",
]
PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "172.32.0.1",
    "2606:4700::1111",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::",
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.integers(0, 2**32 - 1))
def test_an_address_is_judged_alike_however_it_is_wrapped(number: int) -> None:
    plain = is_public(IPv4Address(number))
    prefix = {"mapped": 0xFFFF << 32, "nat64": 0x64FF9B << 96}
    assert {name: is_public(IPv6Address(start | number)) for name, start in prefix.items()} == {
        "mapped": plain,
        "nat64": plain,
    }
    assert is_public(IPv6Address(0x2002 << 112 | number << 80)) == plain


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("file:///etc/passwd", "scheme 'file'"),
        ("ftp://example.com/", "scheme 'ftp'"),
        ("javascript:alert(1)", "scheme 'javascript'"),
        ("data:text/html,hi", "scheme 'data'"),
        ("gopher://example.com", "scheme 'gopher'"),
        ("//example.com/x", "scheme ''"),
        ("example.com", "scheme ''"),
        ("", "scheme ''"),
        ("http://", "no valid host"),
        ("http:///x", "no valid host"),
        ("http://user:password@example.com/", "user name or password"),
        ("http://user@example.com/", "user name or password"),
        ("http://example.com:99999/", "port"),
        ("http://[::1", "not a web address"),
        ("http://example.com/" + "x" * 5000, "longer than"),
        ("http://example.com/\x00", "not a web address"),
        ("http://" + "a" * 70 + "\u00fc.com/", "not a web address"),
    ],
)
def test_addresses_that_are_never_fetched(url: str, why: str) -> None:
    with pytest.raises(ForbiddenAddressError, match=why):
        web_address(url)


def test_an_address_loses_its_fragment_and_keeps_the_rest() -> None:
    assert str(web_address("https://Example.com/a?b=c#d")) == "https://example.com/a?b=c"
    assert str(web_address("../x", web_address("http://example.com/a/b/c"))) == "http://example.com/a/x"


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        found = web_address(text)
    except ForbiddenAddressError:
        return
    assert found.scheme in ("http", "https")
    assert found.host
