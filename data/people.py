"""Who may come in, and as what: the section [people] of berdseye.toml. It holds no secret."""

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
    """Local mode: a name is enough. Team mode: people sign in at `issuer`, an OpenID Connect provider.

    `address` is where people reach the app (empty: this machine); `session_hours` is how long a sign-in lasts; `roles` are
    those of e-mail addresses, or of all addresses of a domain ("@example.org"), in lower case.
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
        """The role of an address: its own, else that of its domain, else the default; None: this person may not come in."""
        address = folded_email(email)
        domain = f"@{address.rpartition('@')[2]}"
        return self.roles.get(address) or self.roles.get(domain) or self.default_role


def people_settings(section: Mapping[str, Any]) -> PeopleSettings:
    """The section as it was read; raises `BadInputError` and `UnknownNameError` for what cannot be meant."""
    mode, default, hours = section["mode"], section["default_role"], float(section["session_hours"])
    if mode not in MODES:
        raise UnknownNameError("mode of [people]", mode, MODES)
    if default and default not in ROLES:
        raise UnknownNameError("default_role of [people]", default, ROLES)
    if default == "admin":
        raise BadInputError("Not everyone can be an admin.", hint="Name the admins in [people.roles].")
    if hours <= 0:
        raise BadInputError("A sign-in must last for some time.", hint="Write session_hours like 12.0.")
    roles = _roles(section["roles"])
    for name in ("issuer", "address"):
        _check_address(name, section[name])
    if mode == "team" and not (section["issuer"] and section["client_id"]):
        raise BadInputError("Team mode needs a provider.", hint="Set issuer and client_id in [people].")
    return PeopleSettings(
        mode, section["issuer"].rstrip("/"), section["client_id"], section["address"].rstrip("/"), default or None, hours, roles
    )  # fmt: skip


def folded_email(email: str) -> str:
    """An address as it is kept and compared; raises `BadInputError` for what is none. The empty one stays empty."""
    folded = email.strip().casefold()
    if folded and (folded.count("@") != 1 or len(folded) > _LONGEST_EMAIL or not folded.isprintable() or " " in folded):
        raise BadInputError("This is no e-mail address.", hint="Write it like ana@example.org.")
    return folded


def _roles(written: Mapping[str, Any]) -> Mapping[str, Role]:
    found: dict[str, Role] = {}
    for email, role in written.items():
        folded = email.strip().casefold()
        if folded.count("@") != 1 or folded.endswith("@"):
            raise BadInputError(
                f"'{email}' in [people.roles] is no e-mail address.", hint='Write "ana@example.org" or "@example.org".'
            )
        if role not in ROLES:
            raise UnknownNameError("role in [people.roles]", str(role), ROLES)
        if found.setdefault(folded, role) != role:
            raise BadInputError(f"'{email}' in [people.roles] has two roles.", hint="Leave one.")
    return MappingProxyType(found)


def _check_address(name: str, url: str) -> None:
    """An address is https, or on this machine; it has nobody's password in it."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        plain = bool(parts.hostname) and parts.username is None and not (parts.query or parts.fragment)
        fits = plain and (parts.scheme == "https" or (parts.scheme == "http" and _here(str(parts.hostname))))
    except ValueError:
        fits = False
    if not fits:
        raise BadInputError(
            f"'{name}' in [people] must be an https address (http on this machine).",
            hint='Write it like "https://id.example.org".',
        )


def _here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
