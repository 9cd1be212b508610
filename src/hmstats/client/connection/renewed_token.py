"""A delegation token that is renewed for as long as other processes work with it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from hmstats.client.connection.connection import Connection
from hmstats.client.connection.kerberos_ticket import ticket_user
from hmstats.errors import HmstatsError
from hmstats.program_log import ProgramLog

_LEAST_PAUSE_SECONDS = 0.5
_JOIN_SECONDS = 5.0
_MS = 1_000

_log = ProgramLog("hmstats.client")


@contextmanager
def renewed_token(connection: Connection) -> Iterator[str]:
    """A delegation token of the user whose ticket the connection shows; it is cancelled at the end.

    Until then it is renewed whenever half of its time is over, by a thread with a connection of its own, until the
    metastore renews it no more. Raises CallRefused or ServiceUnavailable if the metastore gives no token.
    """
    # A server of hmstats answers the user that it takes the principal for, and a Hive what it was told.
    (user, *_) = connection.call("set_ugi", ticket_user(), [])
    token = connection.call("get_delegation_token", user, user)
    try:
        with _renewing(connection, token):
            yield token
    finally:
        with suppress(HmstatsError):  # it ends by itself
            connection.call("cancel_delegation_token", token)


@contextmanager
def _renewing(connection: Connection, token: str) -> Iterator[None]:
    try:
        expires_ms: int = connection.call("renew_delegation_token", token)  # nothing else says when it expires
    except HmstatsError as error:
        _log.warning("delegation_token_not_renewed", reason=str(error))
        yield
        return
    done = threading.Event()
    arguments = (connection.another(), token, expires_ms, done)
    thread = threading.Thread(target=_renew, args=arguments, name="token-renewal", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(_JOIN_SECONDS)


def _renew(connection: Connection, token: str, expires_ms: int, done: threading.Event) -> None:
    """Renew until the end; after a failure again, as long as the token lasts."""
    while not done.wait(max(_seconds_left(expires_ms) / 2, _LEAST_PAUSE_SECONDS)):
        before_ms = expires_ms
        try:
            expires_ms = connection.call("renew_delegation_token", token)
        except HmstatsError as error:
            if done.is_set():
                break
            _log.warning("delegation_token_not_renewed", reason=str(error), seconds_left=_seconds_left(expires_ms))
            if _seconds_left(expires_ms) <= 0:
                break
            continue
        if expires_ms <= before_ms:
            _log.warning("delegation_token_ends", reason="its longest time is over", seconds=_seconds_left(expires_ms))
            break
    connection.close()


def _seconds_left(expires_ms: int) -> float:
    """Until a time of the metastore's clock, by ours; Kerberos keeps the two within minutes of each other."""
    return round(expires_ms / _MS - time.time(), 1)
