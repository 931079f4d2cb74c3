"""The settings of a web corpus: the search provider, limits on fetching, and the trusted sites.

Trusted sites are given as domain endings such as .gov, .edu, .org or .ac.uk, or as a list of them with a name.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, Literal, get_args

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.web.addresses import ForbiddenAddressError, suffixes, web_address

DEBATEQA_TRUSTED = ("edu", "org", "gov", "info", "pro")
"""The domain endings that DebateQA trusts (section 3 and table 5); those under country domains, such as .gov.uk, are not among
them."""
TRUSTED_LISTS: Mapping[str, tuple[str, ...]] = {
    "debateqa": DEBATEQA_TRUSTED,
    "institutions": (
        *("gov", "edu", "org", "int", "mil"),
        *("gov.*", "govt.*", "go.*", "gob.*", "gouv.*", "gc.ca", "edu.*", "ac.*", "org.*", "mil.*", "europa.eu"),
    ),
}
"""Lists of trusted domain endings by name. `institutions` is Berdseye's own: authorities, universities, organisations and armed
forces of every country."""
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_PATTERN = re.compile(rf"({_LABEL}\.)*({_LABEL}\.\*|{_LABEL})")
Provider = Literal["searxng", "serper"]
SERPER = "https://google.serper.dev"
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z]{2,4})?")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LARGEST: dict[str, float] = {
    "count": 1000,
    "concurrency": 64,
    "seconds_between": 60,
    "seconds_a_page": 600,
    "bytes_a_page": 100_000_000,
    "seconds_a_question": 3600,
    "seconds_a_search": 600,
}


def is_trusted(url: str, trusted: Sequence[str]) -> bool:
    """Whether the host of `url` has one of the trusted endings; without endings, every site is trusted.

    The star in 'ac.*' stands for a two-letter country code, and the ending must be one under which domains are registered, by
    the Public Suffix List: ac.uk is such an ending, while ac.de is an ordinary domain.
    """
    if not trusted:
        return True
    try:
        host = web_address(url).raw_host.decode("ascii").lower().rstrip(".")
    except ForbiddenAddressError:
        return False
    return any(_ends_with(host, pattern) for pattern in trusted)


def trusted_endings(names: Iterable[str]) -> tuple[str, ...]:
    """Return domain endings without repetition, with the endings of each list of `TRUSTED_LISTS` in place of its name."""
    return tuple(dict.fromkeys(ending for name in names for ending in TRUSTED_LISTS.get(name, (name,))))


def checked_pattern(pattern: str) -> str:
    """Return `pattern` if it is a domain ending; raises `BadInputError` otherwise."""
    if not _PATTERN.fullmatch(pattern):
        raise BadInputError(
            f"'{pattern}' is not a domain ending.",
            hint="Write it in lower case, like gov, who.int or ac.* (any country).",
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


@dataclass(frozen=True)
class WebSettings:
    """The settings of a web corpus; raises `BadInputError` for invalid values.

    `address` is that of the SearXNG server (or another address with serper.dev's interface). `trusted` lists domain endings
    such as 'gov' or 'ac.*'; an empty list trusts every site. `allow_private` permits fetching from private and loopback
    addresses, for an intranet or a test server only. `seconds_between` is the pause between two requests to one host,
    `seconds_a_search` the time limit for all result pages of a search, `seconds_a_question` the one for fetching and reading.
    """

    provider: Provider = "searxng"
    address: str = ""
    count: int = 100
    trusted: tuple[str, ...] = ()
    language: str = ""
    allow_private: bool = False
    concurrency: int = 16
    seconds_between: float = 0.5
    seconds_a_page: float = 15.0
    bytes_a_page: int = 5_000_000
    seconds_a_question: float = 60.0
    seconds_a_search: float = 60.0

    def __post_init__(self) -> None:
        if self.provider not in get_args(Provider):
            raise UnknownNameError("search provider", str(self.provider), get_args(Provider))
        self._check_types()
        for name, largest in _LARGEST.items():
            value, least = getattr(self, name), 0 if name == "seconds_between" else 1e-3
            if not least <= value <= largest:  # NaN compares false and is rejected as well
                above = "from 0" if least == 0 else "above 0 and"
                raise BadInputError(
                    f"'{name}' must be {above} up to {largest:g}, got {value}.", hint="Give a number in this range."
                )
        if self.language and not _LANGUAGE.fullmatch(self.language):
            raise BadInputError(f"'{self.language}' is not a language code.", hint="Write it like en, de or pt-BR.")
        for pattern in self.trusted:
            checked_pattern(pattern)
        self._check_address()

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "WebSettings":
        """Read settings from a JSON object; raises `UnknownNameError` for an unknown name."""
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise UnknownNameError("web setting", str(name), known)
        trusted = values.get("trusted", ())
        if not isinstance(trusted, (list, tuple)):
            raise BadInputError("'trusted' must be a list of domain endings.", hint='Write it as ["gov", "ac.*"].')
        return cls(**{**values, "trusted": tuple(trusted)})

    def write(self) -> dict[str, Any]:
        """The settings as a JSON object, for `read`."""
        return {**asdict(self), "trusted": list(self.trusted)}

    @property
    def search_address(self) -> str:
        """The address to which searches are sent, without a slash at the end."""
        return (self.address or SERPER).rstrip("/")

    def _check_types(self) -> None:
        for field in fields(self):
            value, default = getattr(self, field.name), field.default
            wanted = (int, float) if isinstance(default, float) else type(default)
            if not isinstance(value, wanted) or (isinstance(value, bool) and not isinstance(default, bool)):
                raise BadInputError(f"'{field.name}' cannot be {value!r}.", hint=f"Give a value such as {default!r}.")
        if not all(isinstance(pattern, str) for pattern in self.trusted):
            raise BadInputError("'trusted' must be a list of texts.", hint='Write it as ["gov", "ac.*"].')

    def _check_address(self) -> None:
        if not self.address:
            if self.provider == "serper":
                return
            raise BadInputError(
                "The address of the SearXNG server is missing.", hint="Write it like http://localhost:8080."
            )
        try:
            url = web_address(self.address)
        except ForbiddenAddressError as error:
            raise BadInputError(
                f"The address of the {self.provider} server, '{self.address}', {error}.",
                hint="Write it like http://localhost:8080.",
            ) from error
        if url.query:
            raise BadInputError(
                f"The address '{self.address}' contains a question mark.", hint="Remove it and everything after it."
            )
        if self.provider == "serper" and url.scheme == "http" and url.host not in _LOOPBACK:
            raise BadInputError("Berdseye does not send a serper.dev key unencrypted.", hint="Give an https address.")
