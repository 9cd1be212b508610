"""The server as its owner sees it: start, drain, wait, stop."""

import resource
import threading
from dataclasses import replace

import structlog

from hmstats.server.authentication.authentication import Authentication
from hmstats.server.cache.version_source import VersionSource
from hmstats.server.calls.dispatch import Dispatcher
from hmstats.server.chores import Chore, Chores
from hmstats.server.connections.exchange import NewSession
from hmstats.server.connections.handshakes import Tls
from hmstats.server.connections.loop import Loop
from hmstats.server.limits import Limits
from hmstats.server.rpc.caller import Session
from hmstats.server.sockets.listener import Listener
from hmstats.server.sockets.port import Address, Port

_OTHER_FILES = 256
"""File descriptors for anything but clients: the database, logs, libraries."""

_log = structlog.get_logger("hmstats.server")


class Server:
    """Serves a dispatcher's calls on one address until it is stopped.

    A server can be started once. With a listener instead of an address, other processes may serve the same port.
    `versions` checks cached answers in the selector's thread; without it workers check them. `sessions` makes each
    connection's session. `tls` makes connections encrypted; without it they are plain. `authentication`
    has every client prove its user; without it a user is whom the client names.
    """

    def __init__(
        self,
        address: Address | Listener,
        dispatcher: Dispatcher,
        limits: Limits | None = None,
        chores: tuple[Chore, ...] = (),
        versions: VersionSource | None = None,
        sessions: NewSession = Session,
        tls: Tls | None = None,
        authentication: Authentication | None = None,
    ) -> None:
        self._address = address
        self._dispatcher = dispatcher
        self._limits = limits or Limits()
        self._chores = Chores(chores)
        self._versions = versions
        self._sessions = sessions
        self._tls = tls
        self._authentication = authentication
        self._loop: Loop | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> Address:
        """Listen, serve from now on, and return the host and port.

        Raises SettingsError if the address cannot be bound.
        """
        limits = _fitting(self._limits, _allow_open_files(self._limits.max_connections + _OTHER_FILES))
        listener = self._listener()
        bound = listener.address
        self._loop = Loop(
            listener,
            self._dispatcher,
            limits,
            self._versions,
            self._sessions,
            self._tls,
            self._authentication,
        )
        self._thread = threading.Thread(target=self._loop.run, name="hmstats-selector", daemon=True)
        self._thread.start()
        self._chores.start()
        return bound

    def drain(self, drain_seconds: float) -> None:
        """Begin to stop, and return at once; takes no lock, so a signal handler may call it.

        No more connections are accepted and no more requests started; running calls have `drain_seconds`.
        """
        if self._loop is not None:
            self._loop.drain(drain_seconds)

    def wait(self) -> None:
        """Return when the server has stopped."""
        if self._thread is not None:
            self._thread.join()
            self._chores.stop()

    def stop(self, drain_seconds: float) -> None:
        """Drain, and return when the server has stopped."""
        self.drain(drain_seconds)
        self.wait()

    def _listener(self) -> Listener:
        if isinstance(self._address, Listener):
            return self._address
        with Port(self._address) as port:
            return Listener(port.listen())


def _allow_open_files(wanted: int) -> int:
    """Raise the process's soft limit of open files as far as the hard one allows. Returns how many it may open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    reachable = wanted if hard == unlimited else min(wanted, hard)
    if soft != unlimited and soft < reachable:
        resource.setrlimit(resource.RLIMIT_NOFILE, (reachable, hard))
    if reachable < wanted:
        _log.warning("open_files_limited", wanted=wanted, allowed=reachable)
    return reachable


def _fitting(limits: Limits, open_files: int) -> Limits:
    """The limits with as many connections as files can be opened; half of them at most are in handshakes.

    Else silent clients could take every file, and a good one could not be accepted.
    """
    if open_files >= limits.max_connections + _OTHER_FILES:
        return limits
    connections = max(2, open_files - _OTHER_FILES)
    return replace(limits, max_connections=connections, max_handshakes=min(limits.max_handshakes, connections // 2))
