"""Finds the entry of a user in a directory by its name, and checks its password by a bind.

Both ways answer the name as the entry spells it, since LDAP looks at no case and access rules do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import ldap
import ldap.dn

from hmstats.errors import SettingsError
from hmstats.private_files import require_private
from hmstats.server.authentication.directory.ldap_names import DnTemplate, FilterTemplate, require_dn

_MEMBER_OF = "memberOf"
_WRONG = (
    ldap.INVALID_CREDENTIALS,
    ldap.INVALID_DN_SYNTAX,
    ldap.INAPPROPRIATE_AUTH,  # an entry without a password
    ldap.NO_SUCH_OBJECT,
)
"""Answers that say that the user or its password is wrong; RFC 4513 asks for the first one only."""

_Entry = tuple[str | None, Mapping[str, Sequence[bytes]]]


@dataclass(frozen=True, slots=True)
class ProvenUser:
    """A user whose password the directory has accepted."""

    name: str
    dn: str
    member_of: Sequence[str]
    """The DNs of its groups."""


class UserProver(Protocol):
    """Proves a user over a connection. Raises ldap.LDAPError if the directory cannot tell."""

    def prove(self, connection: Any, user: str, password: str) -> ProvenUser | None:
        """The user if the password is its own; None if not."""

    def bind_as_reader(self, connection: Any) -> None:
        """Bind as the account that reads groups, after a user was proven."""


@dataclass(frozen=True, slots=True)
class ByDn:
    """Users whose DN says their name. They must be allowed to read their own entry."""

    users: DnTemplate

    def prove(self, connection: Any, user: str, password: str) -> ProvenUser | None:
        """Bind as the user, then read its entry."""
        dn = self.users.dn_of(user)
        if not _binds(connection, dn, password):
            return None
        entries: Sequence[_Entry] = connection.search_s(dn, ldap.SCOPE_BASE, "(objectClass=*)", [_MEMBER_OF])
        name = self.users.name_in(entries[0][0] or "") if entries else None
        if name is None:
            raise ldap.NO_SUCH_OBJECT({"desc": "the user may not read its own entry, which tells its name"})
        return ProvenUser(name, entries[0][0] or dn, values_of(entries[0][1], _MEMBER_OF))

    def bind_as_reader(self, connection: Any) -> None:
        """Stay the user."""


@dataclass(frozen=True, slots=True)
class BySearch:
    """Users whose entry is searched for below a DN, by an account of the server or by nobody in particular.

    The account's password is the first line of a file, which is read at each search.
    """

    base: str
    filter: FilterTemplate
    attribute: str
    """The attribute that has the user's name; an entry must have one of it."""
    account: str | None = None
    password_file: str | None = None

    def __post_init__(self) -> None:
        """Raises SettingsError if a DN is invalid, or if everybody can read the file."""
        require_dn("ldap_user_base", self.base)
        if (self.account is None) != (self.password_file is None):
            raise SettingsError("ldap_bind_dn and ldap_bind_password_file belong together, found one of them")
        if self.account is not None:
            require_dn("ldap_bind_dn", self.account)
            self._password()

    def prove(self, connection: Any, user: str, password: str) -> ProvenUser | None:
        """Search for the user's entry, then bind as it."""
        if self.account is not None:
            self._bind(connection, self.account)
        entry = self._entry(connection, user)
        if entry is None:
            # As many binds as for an existing user, so that the time reveals less about which users exist.
            _binds(connection, f"{self.attribute}={ldap.dn.escape_dn_chars(user)},{self.base}", password)
            return None
        dn, attributes = entry
        names = values_of(attributes, self.attribute)
        if len(names) != 1:
            reason = f"expected one {self.attribute} of {dn}, which is the user's name, found {len(names)}"
            raise ldap.CONSTRAINT_VIOLATION({"desc": reason})
        return ProvenUser(names[0], dn, values_of(attributes, _MEMBER_OF)) if _binds(connection, dn, password) else None

    def bind_as_reader(self, connection: Any) -> None:
        """Bind as the account; without one stay the user."""
        if self.account is not None:
            self._bind(connection, self.account)

    def _bind(self, connection: Any, account: str) -> None:
        try:
            connection.simple_bind_s(account, self._password())
        except _WRONG as error:
            raise ldap.INSUFFICIENT_ACCESS({"desc": f"the directory refuses ldap_bind_dn {account}"}) from error

    def _entry(self, connection: Any, user: str) -> tuple[str, Mapping[str, Sequence[bytes]]] | None:
        """The only entry of a user; referrals to other directories, which have no DN, are left alone."""
        wanted = [self.attribute, _MEMBER_OF]
        found: Sequence[_Entry] = connection.search_ext_s(
            self.base, ldap.SCOPE_SUBTREE, self.filter.of(user), wanted, sizelimit=2
        )
        entries = [(dn, attributes) for dn, attributes in found if dn is not None]
        if len(entries) > 1:
            raise ldap.SIZELIMIT_EXCEEDED({"desc": f"ldap_user_filter must find one entry, found {len(entries)}"})
        return entries[0] if entries else None

    def _password(self) -> str:
        assert self.password_file is not None
        require_private("ldap_bind_password_file", self.password_file)
        password = Path(self.password_file).read_text(encoding="utf-8").split("\n")[0]
        if not password:  # a bind without one is anonymous, and succeeds (RFC 4513, 5.1.2)
            raise SettingsError(f"ldap_bind_password_file {self.password_file} must begin with a password, found none")
        return password


def _binds(connection: Any, dn: str, password: str) -> bool:
    """Whether a bind succeeds."""
    try:
        connection.simple_bind_s(dn, password)
    except _WRONG:
        return False
    return True


def values_of(attributes: Mapping[str, Sequence[bytes]], name: str) -> list[str]:
    """The values of an attribute, whose name the directory may spell in another case."""
    found = next((values for each, values in attributes.items() if each.lower() == name.lower()), ())
    return [each.decode(errors="replace") for each in found]
