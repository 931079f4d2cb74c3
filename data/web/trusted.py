"""Which sites are trusted: those under domain endings such as .gov, .edu, .org or .ac.uk."""

import re
from collections.abc import Sequence
from functools import lru_cache

from berdseye.data.errors import BadInputError
from berdseye.data.web.addresses import ForbiddenAddressError, web_address
from berdseye.data.web.domains import suffixes

TRUSTED = (
    *("gov", "edu", "org", "int", "mil"),
    *("gov.*", "govt.*", "go.*", "gob.*", "gouv.*", "gc.ca", "edu.*", "ac.*", "org.*", "mil.*", "europa.eu"),
)
"""The endings DebateQA trusts (.gov, .edu, .org and the like), with the forms they take under country domains."""
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_PATTERN = re.compile(rf"({_LABEL}\.)*({_LABEL}\.\*|{_LABEL})")


def is_trusted(url: str, trusted: Sequence[str]) -> bool:
    """Whether the host of `url` stands under one of the endings; with no endings every site is trusted.

    In 'ac.*' the star is a country of two letters, and the ending must be one under which domains are registered (by
    the Public Suffix List): ac.uk is, while ac.de is anybody's domain.
    """
    if not trusted:
        return True
    try:
        host = web_address(url).raw_host.decode("ascii").lower().rstrip(".")
    except ForbiddenAddressError:
        return False
    return any(_ends_with(host, pattern) for pattern in trusted)


def checked_pattern(pattern: str) -> str:
    """`pattern` if it is a domain ending, else `BadInputError`."""
    if not _PATTERN.fullmatch(pattern):
        raise BadInputError(
            f"'{pattern}' is no domain ending.", hint="Write it in small letters as gov, who.int or ac.* (any country)."
        )
    return pattern


def _ends_with(host: str, pattern: str) -> bool:
    if not pattern.endswith(".*"):
        return host == pattern or host.endswith(f".{pattern}")
    country = host.rpartition(".")[2]
    if len(country) != 2 or not country.isalpha():
        return False
    ending = f"{pattern.removesuffix('*')}{country}"
    return (host == ending or host.endswith(f".{ending}")) and _is_public_suffix(ending)


@lru_cache(maxsize=4096)
def _is_public_suffix(ending: str) -> bool:
    return suffixes()(ending).suffix == ending
