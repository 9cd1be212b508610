"""Passwords that an LDAP directory checks: it is asked to bind as the user, behind TLS, with a limit of time."""

from typing import Any

import ldap
import structlog

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.directory.ldap_connection import Ldap
from hmstats.server.authentication.directory.ldap_groups import Grouping
from hmstats.server.authentication.directory.ldap_users import UserProver
from hmstats.server.authentication.passwords import PASSWORD
from hmstats.server.authentication.proven_passwords import ProvenPasswords

_UNAVAILABLE = "passwords cannot be checked now, since the LDAP directory does not answer as expected; try again later"

_log = structlog.get_logger("hmstats.server")


class LdapDirectory:
    """The users of a directory, and their groups. Each check connects anew.

    A proven password is believed for `cache_seconds`.
    """

    def __init__(
        self, place: Ldap, users: UserProver, *, groups: Grouping | None = None, cache_seconds: float = 60.0
    ) -> None:
        self._directory = place
        self._users = users
        self._groups = groups
        self._proven = ProvenPasswords(cache_seconds)

    def check(self, user: str, password: str) -> Principal | None:
        """The user, by the name of its entry, if the password is its own; None if not. Blocks while LDAP is asked.

        Raises NotAuthenticated if the directory cannot tell; the log says why.
        """
        # A bind without a password is anonymous and succeeds (RFC 4513, 5.1.2); a NUL may end a text early.
        if not user or not password or "\0" in user + password:
            return None
        proven = self._proven.find(user, password)
        if proven is not None:
            return proven
        try:
            with self._directory.connect() as connection:
                principal = self._prove(connection, user, password)
        except (ldap.LDAPError, OSError, SettingsError) as error:
            _log.error("ldap_failed", url=self._directory.url, reason=_reason(error), user=user[:100])
            raise NotAuthenticated(_UNAVAILABLE) from error
        if principal is None:
            self._proven.remove(user)
            return None
        self._proven.put(user, password, principal)
        return principal

    def _prove(self, connection: Any, user: str, password: str) -> Principal | None:
        proven_user = self._users.prove(connection, user, password)
        if proven_user is None:
            return None
        if self._groups is None:
            return Principal(proven_user.name, (), PASSWORD)
        self._users.bind_as_reader(connection)
        return Principal(proven_user.name, self._groups.names(connection, proven_user), PASSWORD)


def _reason(error: Exception) -> str:
    """The text of an error of LDAP: its description, and the server's or the system's own words."""
    description = error.args[0] if error.args else ""
    if not isinstance(description, dict):
        return str(error) or type(error).__name__
    return ": ".join(str(description[key]) for key in ("desc", "info") if description.get(key))
