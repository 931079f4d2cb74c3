"""What sites allow robots to fetch (RFC 9309)."""

from collections import defaultdict

import anyio
import httpx
from protego import Protego

from berdseye.data.web.client import AGENT, PoliteClient, TooManyRedirectsError
from berdseye.data.web.reasons import PageError

_LIMIT = 512_000  # RFC 9309, section 2.5, asks for at least 500 KiB
_EVERYTHING = ""


class Robots:
    """The robots.txt of each site, fetched once."""

    def __init__(self, client: PoliteClient) -> None:
        self._client = client
        self._rules: dict[str, Protego | PageError] = {}
        self._fetching: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def check(self, url: httpx.URL) -> None:
        """Raises `PageError` where the site forbids `url`, or cannot be asked (RFC 9309, section 2.3.1)."""
        site = f"{url.scheme}://{url.netloc.decode('ascii')}"
        async with self._fetching[site]:
            if site not in self._rules:
                self._rules[site] = await self._fetched(url)
        rules = self._rules[site]
        if isinstance(rules, PageError):
            raise PageError(rules.reason, rules.detail)
        if not rules.can_fetch(str(url), AGENT):
            raise PageError("robots.txt", "the site asks robots to stay away from this page")
        self._client.slow_down(url.host, rules.crawl_delay(AGENT) or 0.0)

    async def _fetched(self, url: httpx.URL) -> Protego | PageError:
        try:
            answer = await self._client.get(
                url.copy_with(raw_path=b"/robots.txt"), _LIMIT, before=_anywhere, readable=_anything
            )
        except TooManyRedirectsError:
            return Protego.parse(_EVERYTHING)
        except PageError as error:
            return PageError(error.reason, f"robots.txt: {error.detail}")
        if answer.status >= 500 or answer.status == 429:
            return PageError("robots.txt", f"the site answers {answer.status} when asked what robots may fetch")
        return Protego.parse(answer.body.decode("utf-8-sig", "replace"))


async def _anywhere(url: httpx.URL) -> None:
    del url


def _anything(content_type: str) -> None:
    del content_type
