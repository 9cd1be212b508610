"""Opens connections to the upstream: plain or with TLS, and authenticated if the upstream uses Kerberos.

The gateway then authenticates by its ticket. For a user it requests a delegation token from the upstream, as Hadoop's
proxy users may, and opens the user's connections with that token. So the upstream applies its own rules to each user.
"""

import ssl
import threading
import time
from typing import NamedTuple

import structlog

from hmstats.client.connection.address import Address
from hmstats.client.connection.delegation_token import DelegationTokenProof
from hmstats.client.connection.kerberos_ticket import KerberosTicket, ticket_user
from hmstats.client.connection.sasl_transport import Mechanism
from hmstats.errors import CallRefused, SettingsError, UpstreamUnavailable, UserRefused
from hmstats.gateway.upstream.connection import Times, UpstreamConnection, User

_log = structlog.get_logger("hmstats.gateway")

_TOKEN_SECONDS = 6 * 3600.0
"""How long a token is used to open connections; by default the upstream accepts it for a day."""
_HOST = "/_HOST@"


class _Token(NamedTuple):
    text: str
    since: float


class Connecting:
    """Opens connections. Thread-safe. `principal` is the upstream's in Kerberos; None if it does not authenticate."""

    def __init__(self, times: Times, tls: ssl.SSLContext | None, principal: str | None, most_held_bytes: int) -> None:
        self._times = times
        self._tls = tls
        self._principal = principal
        self._most_held_bytes = most_held_bytes
        self._tokens: dict[tuple[Address, str], _Token] = {}
        self._lock = threading.Lock()

    def __call__(self, address: Address, user: User) -> UpstreamConnection:
        """A new connection of a user. Raises OSError, Unanswered, UpstreamUnavailable, UpstreamClosed."""
        if self._principal is None:
            return self._open(address, user, None)
        if user.name is None:
            return self._by_ticket(address, self._principal)
        token = self._tokens.get((address, user.name))
        if token is not None and time.monotonic() - token.since < _TOKEN_SECONDS:
            try:
                return self._open(address, user, DelegationTokenProof(token.text))
            except CallRefused as error:  # an upstream that was restarted may not know the token any more
                _log.info("token_refused", address=str(address), user=user.name, reason=str(error))
        fresh = self._token(address, user.name, self._principal)
        try:
            return self._open(address, user, DelegationTokenProof(fresh))
        except CallRefused as error:
            raise UserRefused(f"{address} refuses the token that it made for {user.name}: {error}") from error

    def _by_ticket(self, address: Address, principal: str) -> UpstreamConnection:
        """A connection of the gateway itself."""
        try:
            ticket = KerberosTicket(principal.replace(_HOST, f"/{address.host.lower()}@"))
            return self._open(address, User(None), ticket)
        except (CallRefused, SettingsError) as error:
            raise UpstreamUnavailable(f"{address} cannot be asked with the gateway's ticket: {error}") from error

    def _token(self, address: Address, user: str, principal: str) -> str:
        """A new delegation token of a user."""
        opened = self._by_ticket(address, principal)
        try:
            made = str(opened.call("get_delegation_token", user, ticket_user()))
        except CallRefused as error:
            raise UserRefused(
                f"{address} gives the gateway no token for user {user}, whom it must be a proxy user of: {error}"
            ) from error
        finally:
            opened.close()
        with self._lock:
            self._tokens[address, user] = _Token(made, time.monotonic())
        return made

    def _open(self, address: Address, user: User, proof: Mechanism | None) -> UpstreamConnection:
        tls = self._tls if address.tls else None
        return UpstreamConnection(address, user, self._times, tls, self._most_held_bytes, proof)
