"""Proofs of who a client is: certificates of connections, and what requests say in HTTP's header Authorization.

A check may ask the database, or compute for a tenth of a second, so it runs in a thread of its own kind, as handshakes
do. While it runs, its connection is not read. A proof that was found good is believed for some seconds without another
look; it is kept as a keyed hash, so that memory holds no secret.
"""

import hashlib
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator

import structlog

from hmstats.errors import HmstatsError, MessageTooLarge, NotAuthenticated, ProtocolError
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Authentication, Mechanism, Proven
from hmstats.server.authentication.credentials import Credential
from hmstats.server.connections.connection import Connection
from hmstats.server.connections.workers import Workers
from hmstats.server.layers.tls_socket import TlsSocket
from hmstats.server.limits import Limits
from hmstats.server.monitoring.metrics import AUTHENTICATIONS
from hmstats.server.protocols.protocols import WireProtocol

_THREADS = 2
_MOST_WAITING, _MOST_SLOW_WAITING = 200, 20
"""The most proofs that wait for a thread; the client of one more must try again."""

_log = structlog.get_logger("hmstats.server")


class Proofs:
    """The proofs of a selector's connections. All but the checks runs in the selector's thread."""

    def __init__(self, authentication: Authentication | None, limits: Limits, wake: Callable[[], None]) -> None:
        self.authentication = authentication
        self._wake = wake
        self._cache = _ProofCache()
        self._ended: deque[_Step] = deque()
        waiting = min(_MOST_WAITING, limits.max_waiting_calls)
        self._quick: Workers[_Step] = Workers(_THREADS, waiting, self._run)
        self._started: set[Workers[_Step]] = set()
        self._slow: Workers[_Step] = Workers(_THREADS, min(_MOST_SLOW_WAITING, waiting), self._run)

    def start(self) -> None:
        """Start the threads."""
        for each in self.authentication.mechanisms if self.authentication is not None else ():
            self._started.add(self._slow if each.slow else self._quick)
        for threads in self._started:
            threads.start()

    def stop(self) -> None:
        """Let the threads end."""
        for threads in self._started:
            threads.stop()

    def expect(self, connection: Connection) -> None:
        """Note a new connection, which must prove its user if users are proven here."""
        connection.must_prove = self.authentication is not None

    def by_certificate(self, connection: Connection) -> bool:
        """Take the user of the certificate that came in the handshake; whether there is one.

        Raises NotAuthenticated if the certificate names no user.
        """
        if self.authentication is None or not isinstance(connection.socket, TlsSocket):
            return False
        connection.certified = self.authentication.by_certificate(connection.socket.client_certificate)
        if connection.certified is None:
            return False
        _accept(connection, connection.certified)
        return True

    def prove(self, connection: Connection, protocol: WireProtocol) -> bool:
        """Prove the user of a request whose rest waits for it; whether that is done, else a thread has begun it.

        Raises NotAuthenticated.
        """
        assert self.authentication is not None
        if connection.is_in_step:
            return False
        credential = protocol.credential
        if credential is None:
            if connection.certified is None:
                raise self.authentication.refusal(self.authentication.missing_proof)
            _accept(connection, connection.certified, protocol)
            return True
        peer = connection.session.peer
        mechanism = self.authentication.mechanism(credential, peer, secure=connection.is_secure)
        principal = self._cache.find(mechanism, credential)
        if principal is not None:
            _accept(connection, principal, protocol)
            return True
        connection.is_in_step = True
        threads = self._slow if mechanism.slow else self._quick
        if not threads.submit(_Step(connection, protocol, mechanism, credential)):
            connection.is_in_step = False
            raise self.authentication.refusal("the server checks many users at the moment; try again later")
        return False

    def finished(self) -> Iterator[tuple[Connection, NotAuthenticated | None]]:
        """The connections of finished checks, with the error of those that failed."""
        while self._ended:
            step = self._ended.popleft()
            step.connection.is_in_step = False
            AUTHENTICATIONS.labels("failed" if step.proven is None else "done").inc()
            if step.proven is not None:
                self._cache.put(step.mechanism, step.credential, step.proven)
                _accept(step.connection, step.proven.principal, step.protocol)
            yield step.connection, None if step.proven else self._refusal(step)

    @property
    def missing_proof(self) -> str | None:
        """The sentence for a client that has proven nothing; None if users are not proven here."""
        return None if self.authentication is None else self.authentication.missing_proof

    def explain(self, error: ProtocolError, connection: Connection) -> ProtocolError:
        """The error for a client without a proven user, if its request is too large for one; else the same error."""
        if self.authentication is None or not connection.must_prove or not isinstance(error, MessageTooLarge):
            return error
        return self.authentication.refusal(self.authentication.missing_proof)

    def _refusal(self, step: "_Step") -> NotAuthenticated:
        assert self.authentication is not None
        return self.authentication.refusal(step.reason)

    def _run(self, step: "_Step") -> None:
        step.run()
        self._ended.append(step)
        self._wake()


class _Step:
    """The check of one credential, and what became of it."""

    def __init__(
        self, connection: Connection, protocol: WireProtocol, mechanism: Mechanism, credential: Credential
    ) -> None:
        self.connection = connection
        self.protocol = protocol
        self.mechanism = mechanism
        self.credential = credential
        self.proven: Proven | None = None
        self.reason = "unexpected error; the server's log has it"

    def run(self) -> None:
        """Check the credential, in a thread of the proofs; raises nothing, since its connection waits."""
        try:
            self.proven = self.mechanism.prove(self.credential, self.connection.session.peer)
        except HmstatsError as error:
            self.reason = str(error)
        except Exception as error:  # noqa: BLE001 - the guard of a thread of the proofs
            _log.error("proof_broke", mechanism=self.mechanism.name, error=type(error).__name__)


class _ProofCache:
    """Claims that were found good a moment ago, by a hash with a key that only this object knows."""

    _MOST = 10_000

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._until: OrderedDict[bytes, tuple[Principal, float]] = OrderedDict()

    def find(self, mechanism: Mechanism, credential: Credential) -> Principal | None:
        """The user of a credential that is believed; None if it must be checked."""
        entry = self._until.get(self._hash(mechanism, credential))
        return entry[0] if entry is not None and time.monotonic() < entry[1] else None

    def put(self, mechanism: Mechanism, credential: Credential, proven: Proven) -> None:
        """Believe a credential for its time; the oldest is forgotten when there are too many."""
        if proven.seconds <= 0:
            return
        key = self._hash(mechanism, credential)
        self._until[key] = proven.principal, time.monotonic() + proven.seconds
        self._until.move_to_end(key)
        if len(self._until) > self._MOST:
            self._until.popitem(last=False)

    def _hash(self, mechanism: Mechanism, credential: Credential) -> bytes:
        text = repr((mechanism.name, credential.user, credential.secret))
        return hashlib.blake2b(text.encode(), key=self._key, digest_size=32).digest()


def _accept(connection: Connection, principal: Principal, protocol: WireProtocol | None = None) -> None:
    connection.session.authenticate(principal)
    connection.must_prove = False
    if protocol is not None:
        protocol.accept_proof()
