"""Who may use the app, and in which role: the section [people] of berdseye.toml, which contains no secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from types import MappingProxyType
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from berdseye.data.errors import BadInputError, UnknownNameError

Mode = Literal["local", "team"]
Role = Literal["annotator", "adjudicator", "researcher", "admin"]
MODES: tuple[Mode, ...] = get_args(Mode)
ROLES: tuple[Role, ...] = get_args(Role)
_LONGEST_EMAIL = 254
DEFAULTS: dict[str, Any] = {
    "mode": "local",
    "issuer": "",
    "client_id": "",
    "address": "",
    "default_role": "",
    "session_hours": 12.0,
    "roles": {},
}


@dataclass(frozen=True)
class PeopleSettings:
    """The settings of access: in local mode, a name is enough; in team mode, people sign in at an OpenID Connect provider.

    `issuer` is the URL of the provider; `address` is the URL of the app (empty: this machine); `session_hours` is how long a
    sign-in lasts; `roles` maps e-mail addresses, or all addresses of a domain ("@example.org"), in lower case, to roles.
    """

    mode: Mode = "local"
    issuer: str = ""
    client_id: str = ""
    address: str = ""
    default_role: Role | None = None
    session_hours: float = 12.0
    roles: Mapping[str, Role] = field(default_factory=dict)

    @property
    def team(self) -> bool:
        """Whether people have to sign in."""
        return self.mode == "team"

    def role_of(self, email: str) -> Role | None:
        """The role of an e-mail address: its own, then that of its domain, then the default; None means no access."""
        address = folded_email(email)
        domain = f"@{address.rpartition('@')[2]}"
        return self.roles.get(address) or self.roles.get(domain) or self.default_role


def people_settings(section: Mapping[str, Any]) -> PeopleSettings:
    """Parse the section [people]; raises `BadInputError` and `UnknownNameError` for invalid settings."""
    mode, default, hours = section["mode"], section["default_role"], float(section["session_hours"])
    if mode not in MODES:
        raise UnknownNameError("mode of [people]", mode, MODES)
    if default and default not in ROLES:
        raise UnknownNameError("default_role of [people]", default, ROLES)
    if default == "admin":
        raise BadInputError("default_role cannot be admin.", hint="List the admins in [people.roles].")
    if hours <= 0:
        raise BadInputError(f"session_hours must be above 0, got {hours:g}.", hint="Write it like 12.0.")
    roles = _roles(section["roles"])
    for name in ("issuer", "address"):
        _check_address(name, section[name])
    if mode == "team" and not (section["issuer"] and section["client_id"]):
        raise BadInputError(
            "Team mode requires an OpenID Connect provider.", hint="Set issuer and client_id in [people]."
        )
    return PeopleSettings(
        mode, section["issuer"].rstrip("/"), section["client_id"], section["address"].rstrip("/"), default or None, hours, roles
    )  # fmt: skip


def folded_email(email: str) -> str:
    """An e-mail address as stored and compared, in lower case; an empty one stays empty. Raises `BadInputError`."""
    folded = email.strip().casefold()
    if folded and (folded.count("@") != 1 or len(folded) > _LONGEST_EMAIL or not folded.isprintable() or " " in folded):
        raise BadInputError("This is not a valid e-mail address.", hint="Write it like ana@example.org.")
    return folded


def _roles(written: Mapping[str, Any]) -> Mapping[str, Role]:
    roles: dict[str, Role] = {}
    for email, role in written.items():
        folded = email.strip().casefold()
        if folded.count("@") != 1 or folded.endswith("@"):
            raise BadInputError(
                f"'{email}' in [people.roles] is not a valid e-mail address.",
                hint='Write "ana@example.org" or "@example.org".',
            )
        if role not in ROLES:
            raise UnknownNameError("role in [people.roles]", str(role), ROLES)
        if roles.setdefault(folded, role) != role:
            raise BadInputError(f"'{email}' in [people.roles] has two roles.", hint="Remove one of them.")
    return MappingProxyType(roles)


def _check_address(name: str, url: str) -> None:
    """Raise `BadInputError` unless the URL is https, or http on this machine, and contains no user name or password."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        plain = bool(parts.hostname) and parts.username is None and not (parts.query or parts.fragment)
        fits = plain and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(str(parts.hostname))))
    except ValueError:
        fits = False
    if not fits:
        raise BadInputError(
            f"'{name}' in [people] must be an https URL, or an http URL on this machine, got '{url}'.",
            hint='Write it like "https://id.example.org".',
        )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
