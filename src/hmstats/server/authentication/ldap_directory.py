"""Passwords that an LDAP directory checks: it is asked to bind as the user, behind StartTLS, with a limit of time.

OpenLDAP's limits of time do not hold for its handshakes, and its connections stay in one thread. So the socket is ours,
and is shut down when the time is over. OpenLDAP takes a socket of ours for ldap:// only, hence no ldaps://.
"""

import contextlib
import os
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import ldap
import ldap.dn
import structlog

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.passwords import PASSWORD
from hmstats.server.authentication.proven_passwords import ProvenPasswords

_USER, _GROUP = "{user}", "{group}"
_MEMBER_OF = "memberOf"
_UNAVAILABLE = "passwords cannot be checked now, since the LDAP directory does not answer as expected; try again later"
_WRONG = (
    ldap.INVALID_CREDENTIALS,
    ldap.INVALID_DN_SYNTAX,
    ldap.INAPPROPRIATE_AUTH,  # an entry without a password
    ldap.NO_SUCH_OBJECT,
)
"""Answers that say that the user or its password is wrong; RFC 4513 asks for the first one only."""

_log = structlog.get_logger("hmstats.server")

_PORT = 389

_Names = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class DnTemplate:
    """The DN of an entry with a name, as `uid={user},ou=people,dc=example,dc=org`."""

    text: str
    place: str
    """What stands for the name, such as {user}."""
    attribute: str
    above: _Names
    """The attributes and values behind the first one, in lower case."""

    @classmethod
    def read(cls, setting: str, text: str, place: str) -> "DnTemplate":
        """The template in a setting. Raises SettingsError if the text is no DN whose first value is the place."""
        names = _names(text)
        if not names or names[0][1] != place or text.count(place) != 1:
            raise SettingsError(f"{setting} must be a DN that begins with ATTRIBUTE={place}, found {text}")
        return cls(text, place, names[0][0].lower(), _lower(names[1:]))

    def dn_of(self, name: str) -> str:
        """The DN with a name, which is escaped (RFC 4514) so that it stays one value."""
        return self.text.replace(self.place, ldap.dn.escape_dn_chars(name))

    def name_in(self, dn: str) -> str | None:
        """The name in a DN of this form; None if it has another form."""
        names = _names(dn)
        if not names or names[0][0].lower() != self.attribute or _lower(names[1:]) != self.above:
            return None
        return names[0][1]


class LdapDirectory:
    """The users of a directory below one DN, and their groups. Each check connects anew.

    `seconds` bounds the connection, and then TLS and all answers together. A proven password is believed for
    `cache_seconds`.
    """

    def __init__(
        self,
        url: str,
        user_dn: str,
        *,
        group_dn: str | None = None,
        ca: str | None = None,
        seconds: float = 5.0,
        cache_seconds: float = 60.0,
    ) -> None:
        """Raises SettingsError if a setting has no meaning, or if the file of authorities cannot be used."""
        self._url = url
        self._address = _address_of(url)
        self._users = DnTemplate.read("ldap_user_dn", user_dn, _USER)
        self._groups = None if group_dn is None else DnTemplate.read("ldap_group_dn", group_dn, _GROUP)
        self._ca = ca
        self._seconds = seconds
        self._proven = ProvenPasswords(cache_seconds)
        if ca is not None:
            _require_authorities(ca)

    def check(self, user: str, password: str) -> Principal | None:
        """The user, by the name of its entry, if the password is its own; None if not. Blocks while LDAP is asked.

        Raises NotAuthenticated if the directory cannot tell; the log says why.
        """
        # A bind without a password is anonymous and succeeds (RFC 4513, 5.1.2); a NUL may end a text early.
        if not user or not password or "\0" in user + password:
            return None
        found = self._proven.find(user, password)
        if found is not None:
            return found
        try:
            found = self._ask(user, password)
        except (ldap.LDAPError, OSError) as error:
            _log.error("ldap_failed", url=self._url, reason=_reason(error), user=user[:100])
            raise NotAuthenticated(_UNAVAILABLE) from error
        if found is None:
            self._proven.forget(user)
        else:
            self._proven.keep(user, password, found)
        return found

    def _ask(self, user: str, password: str) -> Principal | None:
        with socket.create_connection(self._address, self._seconds) as shared:
            connection = self._connection(shared)
            try:
                with _within(shared, self._seconds):
                    return self._prove(connection, user, password)
            finally:
                connection.unbind_s()

    def _prove(self, connection: Any, user: str, password: str) -> Principal | None:
        connection.start_tls_s()
        dn = self._users.dn_of(user)
        try:
            connection.simple_bind_s(dn, password)
        except _WRONG:
            return None
        return self._principal(connection.search_s(dn, ldap.SCOPE_BASE, "(objectClass=*)", [_MEMBER_OF]))

    def _principal(self, entries: Sequence[tuple[str | None, dict[str, list[bytes]]]]) -> Principal:
        """The user as its entry spells the name: LDAP looks at no case, and access rules do."""
        name = self._users.name_in(entries[0][0] or "") if entries else None
        if name is None:
            raise ldap.NO_SUCH_OBJECT({"desc": "the user may not read its own entry, which tells its name"})
        groups: list[str] = []
        if self._groups is not None:
            values = (each.decode(errors="replace") for each in entries[0][1].get(_MEMBER_OF, []))
            groups = [group for each in values if (group := self._groups.name_in(each)) is not None]
        return Principal(name, tuple(groups), PASSWORD)

    def _connection(self, shared: socket.socket) -> Any:
        """A connection over a socket that the caller closes too. It follows no referral with the password."""
        shared.settimeout(None)
        connection = ldap.initialize(self._url, fileno=os.dup(shared.fileno()))
        options = [
            (ldap.OPT_PROTOCOL_VERSION, ldap.VERSION3),
            (ldap.OPT_REFERRALS, ldap.OPT_OFF),
            (ldap.OPT_X_TLS, ldap.OPT_X_TLS_HARD),  # if OpenLDAP ever connects by itself, then not in plain
            (ldap.OPT_X_TLS_REQUIRE_CERT, ldap.OPT_X_TLS_DEMAND),
        ]
        if self._ca is not None:
            options.append((ldap.OPT_X_TLS_CACERTFILE, self._ca))
        for option, value in [*options, (ldap.OPT_X_TLS_NEWCTX, 0)]:  # the last one puts those of TLS in force
            connection.set_option(option, value)
        return connection


@contextlib.contextmanager
def _within(shared: socket.socket, seconds: float) -> Iterator[None]:
    """Shut a socket down when the time is over, so that whoever waits for it goes on."""

    def shut_down() -> None:
        with contextlib.suppress(OSError):
            shared.shutdown(socket.SHUT_RDWR)

    limit = threading.Timer(seconds, shut_down)
    limit.daemon = True
    limit.start()
    try:
        yield
    finally:
        limit.cancel()
        limit.join()


def _address_of(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        if parts.scheme == "ldap" and parts.hostname and url == f"ldap://{parts.netloc}" and "@" not in url:
            return parts.hostname, parts.port or _PORT
    except ValueError:  # of the port
        pass
    raise SettingsError(f"ldap_url must be ldap://HOST[:PORT], which is always used with StartTLS, found {url}")


def _require_authorities(file: str) -> None:
    try:
        ssl.create_default_context(cafile=file)
    except OSError as error:  # as an SSLError is
        raise SettingsError(f"ldap_ca must be a PEM file of authorities, found {file}: {error.strerror}") from error


def _names(dn: str) -> _Names:
    """The attribute and value of each part of a DN; nothing if the text is none, or if a part has several."""
    try:
        parts = ldap.dn.str2dn(dn)
    except ldap.DECODING_ERROR:
        return ()
    return [(part[0][0], part[0][1]) for part in parts] if all(len(part) == 1 for part in parts) else ()


def _lower(names: _Names) -> _Names:
    return tuple((attribute.lower(), value.lower()) for attribute, value in names)


def _reason(error: Exception) -> str:
    """What an error of LDAP says: its description, and the server's or the system's own words."""
    told = error.args[0] if error.args else ""
    if not isinstance(told, dict):
        return str(error) or type(error).__name__
    return ": ".join(str(told[key]) for key in ("desc", "info") if told.get(key))
