"""Sign-in at an OpenID Connect provider: the settings for Streamlit and the identity in the provider's token.

Streamlit handles the exchange with the provider, checks signature, issuer, audience and nonce, and keeps the claims in a signed
cookie for 30 days. This module checks the claims again each time a page is drawn: their age, and whether the address has access.
"""

import os
import time
from collections.abc import Mapping
from typing import Any

import httpx

from berdseye.annotation.people import Identity
from berdseye.data.errors import BerdseyeError, UnavailableError
from berdseye.data.extras import require
from berdseye.data.people import PeopleSettings

CLIENT_SECRET = "BERDSEYE_OIDC_CLIENT_SECRET"
COOKIE_SECRET = "BERDSEYE_COOKIE_SECRET"
_METADATA = "/.well-known/openid-configuration"
_CLOCKS_DIFFER = 300.0


class SignInError(BerdseyeError):
    """A rejected sign-in: it is too old, its address is not verified, or the address has no access."""


def auth_secrets(people: PeopleSettings, cookie_secret: str, port: int) -> dict[str, str]:
    """The section `auth` that Streamlit wants; raises `UnavailableError` where the environment lacks the client's secret."""
    require("Team mode", "authlib")
    secret = os.environ.get(CLIENT_SECRET, "")
    if not secret:
        raise UnavailableError(
            "Team mode needs the client secret of the OpenID Connect provider.",
            hint=f"Set {CLIENT_SECRET} in the environment.",
        )
    return {
        "redirect_uri": f"{people.address or f'http://localhost:{port}'}/oauth2callback",
        "cookie_secret": cookie_secret,
        "client_id": people.client_id,
        "client_secret": secret,
        "server_metadata_url": f"{people.issuer}{_METADATA}",
    }


def identity(claims: Mapping[str, Any], people: PeopleSettings, *, now: float | None = None) -> Identity:
    """Return the identity in the claims of an ID token. Raises `SignInError` if the claims are too old, incomplete or
    without access."""
    issued, time_now = claims.get("iat"), time.time() if now is None else now
    if (
        not isinstance(issued, int | float)
        or not issued - _CLOCKS_DIFFER <= time_now < issued + people.session_hours * 3600
    ):
        raise SignInError("Your sign-in has expired.", hint="Sign in again. All your judgments are stored.")
    issuer, sub = str(claims.get("iss") or ""), str(claims.get("sub") or "")
    if issuer.rstrip("/") != people.issuer or not sub:
        raise SignInError("This sign-in is not from the provider in the workspace's settings.", hint="Sign in again.")
    email = str(claims.get("email") or "").strip()
    if not email:
        raise SignInError("The provider did not send your e-mail address.", hint="Allow it to share the address.")
    if claims.get("email_verified") not in (True, "true"):  # some providers send it as text
        raise SignInError(
            f"The provider has not verified your address {email}.", hint="Verify it there, then sign in again."
        )
    if people.role_of(email) is None:
        raise SignInError(
            f"{email} has no access to this workspace.",
            hint="Ask an admin to add you, or sign in with another address.",
        )
    name = str(claims.get("name") or claims.get("preferred_username") or "")
    return Identity(issuer, sub, name, email)


def provider_trouble(people: PeopleSettings) -> str:
    """Return why nobody can sign in now, or an empty text if the provider answers correctly."""
    try:
        answer = httpx.get(f"{people.issuer}{_METADATA}", timeout=5.0, follow_redirects=True)
        answer.raise_for_status()
        if str(answer.json()["issuer"]).rstrip("/") == people.issuer:
            return ""
        return "It reports another issuer than `issuer` in [people]; the two must be equal."
    except httpx.HTTPStatusError as error:
        return f"It answers with HTTP status {error.response.status_code}."
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return "It does not answer."
