"""Domains that addresses belong to, by the public suffix list that tldextract ships: nothing is downloaded."""

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

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
