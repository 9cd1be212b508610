"""Claims on mirrors: who sends a mirror's statistics has it to itself until these are sent.

A claim is a number in the mirror's row, which its holder changes every few seconds while it works. Clocks of several
servers differ, so nobody compares times: if a watcher sees one number for long, by its own clock, the holder was
killed, and its claim counts no more. A holder that was only paused finds its number replaced, and stops.
"""

import threading
import time

import structlog

from hmstats.errors import HmstatsError
from hmstats.model.catalog.objects import TableName
from hmstats.store.catalog import tables
from hmstats.store.database.store import Store
from hmstats.store.mirrors import mirrored

_log = structlog.get_logger("hmstats.mirrors")

BEAT_SECONDS = 3.0
DEAD_SECONDS = 15.0
"""How long a number must stand before its holder is taken for killed."""
_FRESH_SECONDS = 6.0
"""How long after a beat a holder may go on without another one: less than watchers wait by half."""


class MirrorClaims:
    """The claims of this process, and what it knows of those of others. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[int, MirrorClaim] = {}
        self._watched: dict[int, tuple[int, float]] = {}
        """By the mirror's id, the number of its claim and when it was first seen."""
        self._beating: threading.Thread | None = None
        self._lock = threading.Lock()

    def take(self, table_id: int) -> "MirrorClaim | None":
        """Claim a mirror; None if another has claimed it, or if there is no such mirror."""
        with self._store.read() as connection:
            number = mirrored.claim_number(connection, table_id)
        if number is not None and not self._is_dead(table_id, number):
            return None
        began = time.monotonic()
        made = self._store.write(lambda unit: mirrored.claim(unit, table_id, number))
        if made is None:
            return None
        if number is not None:
            _log.warning("claim_replaced", table_id=table_id)
        claim = MirrorClaim(self, self._store, table_id, made, began)
        with self._lock:
            self._watched.pop(table_id, None)
            self._held[table_id] = claim
            if self._beating is None:
                self._beating = threading.Thread(target=self._beat, name="claims", daemon=True)
                self._beating.start()
        return claim

    def is_being_sent(self, name: TableName) -> bool:
        """Whether the statistics of a table's mirror are being sent to the other metastore, by anybody."""
        with self._store.read() as connection:
            table_id = tables.find_id(connection, name)
            number = None if table_id is None else mirrored.claim_number(connection, table_id)
        if table_id is None:
            return False
        if number is None:
            self._watched.pop(table_id, None)
            return False
        return not self._is_dead(table_id, number)

    def _is_dead(self, table_id: int, number: int) -> bool:
        now = time.monotonic()
        with self._lock:
            if table_id in self._held:
                return False
            known, since = self._watched.get(table_id, (None, now))
            if known != number:
                since = now
            self._watched[table_id] = number, since
        return now - since >= DEAD_SECONDS

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT_SECONDS)
            with self._lock:
                held = list(self._held.values())
                if not held:
                    self._beating = None
                    return
            for each in held:
                try:
                    each.beat()
                except HmstatsError as error:
                    _log.warning("claim_not_renewed", table_id=each.table_id, reason=str(error))

    def end(self, claim: "MirrorClaim") -> None:
        """Forget a claim of this process."""
        with self._lock:
            if self._held.get(claim.table_id) is claim:
                del self._held[claim.table_id]


class MirrorClaim:
    """A mirror that this process has to itself. Thread-safe; it must be ended by `release` or `mark_sent`."""

    def __init__(self, claims: MirrorClaims, store: Store, table_id: int, number: int, began: float) -> None:
        self.table_id = table_id
        self._claims = claims
        self._store = store
        self._number: int | None = number
        self._beaten = began
        self._lock = threading.Lock()

    def still_holds(self) -> bool:
        """Whether nobody else can have the mirror for some seconds to come; asks the database if that is in doubt."""
        if time.monotonic() - self._beaten > _FRESH_SECONDS:
            self.beat()
        return self._number is not None

    def beat(self) -> None:
        """Show that the holder lives. Raises StoreUnavailable."""
        with self._lock:
            number, began = self._number, time.monotonic()
            if number is None:
                return
            self._number = self._store.write(lambda unit: mirrored.beat(unit, self.table_id, number))
            self._beaten = began
        if self._number is None:
            _log.warning("claim_lost", table_id=self.table_id)

    def release(self) -> None:
        """End the claim of a mirror that is not sent."""
        self._end(None)

    def mark_sent(self, version: int) -> None:
        """End the claim; the other metastore has the statistics of a version."""
        self._end(version)

    def _end(self, version: int | None) -> None:
        with self._lock:
            number, self._number = self._number, None
        self._claims.end(self)
        if number is not None:
            self._store.write(lambda unit: mirrored.release(unit, self.table_id, number, version))
