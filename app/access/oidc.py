"""Signing in at an OpenID Connect provider: what Streamlit has to know of it, and what its token says.

Streamlit does the exchange with the provider, checks signature, issuer, audience and nonce, and keeps the claims in a signed
cookie for 30 days. Here they are judged anew at each drawing: how old they are, and whether that address may come in.
"""

import os
import time
from collections.abc import Mapping
from typing import Any

import httpx

from berdseye.annotation.people import Identity
from berdseye.data.errors import BerdseyeError, UnavailableError
from berdseye.data.people import PeopleSettings

CLIENT_SECRET = "BERDSEYE_OIDC_CLIENT_SECRET"
COOKIE_SECRET = "BERDSEYE_COOKIE_SECRET"
_METADATA = "/.well-known/openid-configuration"
_CLOCKS_DIFFER = 300.0


class SignInError(BerdseyeError):
    """A sign-in that cannot be taken: it is too old, its address is not verified, or it may not come in."""


def auth_secrets(people: PeopleSettings, cookie_secret: str, port: int) -> dict[str, str]:
    """The section `auth` that Streamlit wants; raises `UnavailableError` where the environment lacks the client's secret."""
    secret = os.environ.get(CLIENT_SECRET, "")
    if not secret:
        raise UnavailableError(
            "Team mode needs the secret of the client at the provider.", hint=f"Set {CLIENT_SECRET} in the environment."
        )
    return {
        "redirect_uri": f"{people.address or f'http://localhost:{port}'}/oauth2callback",
        "cookie_secret": cookie_secret,
        "client_id": people.client_id,
        "client_secret": secret,
        "server_metadata_url": f"{people.issuer}{_METADATA}",
    }


def identity(claims: Mapping[str, Any], people: PeopleSettings, *, now: float | None = None) -> Identity:
    """Who the claims of an ID token say someone is; raises `SignInError` for those that are too old or name nobody."""
    issued, time_now = claims.get("iat"), time.time() if now is None else now
    if (
        not isinstance(issued, int | float)
        or not issued - _CLOCKS_DIFFER <= time_now < issued + people.session_hours * 3600
    ):
        raise SignInError("Your sign-in has ended.", hint="Sign in again; all you judged is kept.")
    issuer, sub = str(claims.get("iss") or ""), str(claims.get("sub") or "")
    if issuer.rstrip("/") != people.issuer or not sub:
        raise SignInError("This sign-in is not of the provider that the settings name.", hint="Sign in again.")
    email = str(claims.get("email") or "").strip()
    if not email:
        raise SignInError("The provider does not tell your e-mail address.", hint="Let it share the address.")
    if claims.get("email_verified") not in (True, "true"):  # some providers write it as a text
        raise SignInError(
            f"The provider has not verified your address {email}.", hint="Verify it there, then sign in again."
        )
    if people.role_of(email) is None:
        raise SignInError(
            f"{email} is not among the people of this workspace.",
            hint="Ask an admin to add you, or sign in as someone else.",
        )
    name = str(claims.get("name") or claims.get("preferred_username") or "")
    return Identity(issuer, sub, name, email)


def provider_trouble(people: PeopleSettings) -> str:
    """Why nobody can sign in now; empty where the provider answers as it should."""
    try:
        answer = httpx.get(f"{people.issuer}{_METADATA}", timeout=5.0, follow_redirects=True)
        answer.raise_for_status()
        if str(answer.json()["issuer"]).rstrip("/") == people.issuer:
            return ""
        return "It calls itself by another name; the issuer in [people] must be that."
    except httpx.HTTPStatusError as error:
        return f"It answers {error.response.status_code}."
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return "It does not answer."
