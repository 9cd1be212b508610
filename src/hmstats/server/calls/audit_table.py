"""Audit records on their way to the database: calls queue them, and a chore writes what has queued up.

A call never waits. While the database is away records queue up; what the queue cannot hold, or the database refuses, is
lost to the table, counted and logged.
"""

import secrets
import threading
from collections import deque
from collections.abc import Sequence
from itertools import count

import structlog

from hmstats.errors import MetaError, StoreUnavailable
from hmstats.model.access.audit_record import AuditRecord
from hmstats.server.monitoring.metrics import AUDIT_LOST
from hmstats.service.access.audit_records import AuditRecords, Numbered

_MOST_WAITING = 20_000
_AT_ONCE = 1_000
_DAY_SECONDS = 86_400.0

_log = structlog.get_logger("hmstats.audit_records")


class AuditTable:
    """The queue of a process. Half of it is for changes alone, so that many reads or refusals push none out.

    Thread-safe.
    """

    def __init__(self, records: AuditRecords, retention_days: float, most_waiting: int = _MOST_WAITING) -> None:
        self._records = records
        self._retention_seconds = retention_days * _DAY_SECONDS
        self._most_waiting = most_waiting
        self._writer = secrets.randbits(63)
        self._numbers = count()
        self._waiting: deque[Numbered] = deque()
        self._batch: Sequence[Numbered] = ()
        """The records that are being written, or wait for the database to answer again."""
        self._left_out = 0
        self._writing = threading.Lock()

    def add(self, record: AuditRecord, *, changes: bool) -> None:
        """Queue the record of a call, which `changes` something or not. Raises nothing."""
        if len(self._waiting) >= (self._most_waiting if changes else self._most_waiting // 2):
            self._left_out += 1
            AUDIT_LOST.inc()
            return
        self._waiting.append(Numbered(self._writer, next(self._numbers), record))

    def write_waiting(self) -> None:
        """Write the queued records. Raises StoreUnavailable if the database does not answer: they stay queued then."""
        with self._writing:
            if self._left_out:
                _log.error("audit_records_lost", number=self._left_out, reason="too many waited for the database")
                self._left_out = 0
            while batch := self._batch or self._next():
                self._batch = batch
                self._write(batch)
                self._batch = ()

    def close(self) -> None:
        """Write the queued records, once; records that the database does not take now are lost."""
        try:
            self.write_waiting()
        except StoreUnavailable as error:
            self._lose(len(self._batch) + len(self._waiting), error)

    def remove_old(self) -> None:
        """Remove the records of all servers that are older than they are kept."""
        self._records.remove_older(self._retention_seconds)

    def _next(self) -> Sequence[Numbered]:
        return [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]

    def _write(self, batch: Sequence[Numbered]) -> None:
        """Write a batch; if the database refuses it, in halves, so that only what it refuses is lost."""
        try:
            self._records.add(batch)
        except StoreUnavailable:
            raise
        except MetaError as error:
            if len(batch) == 1:
                self._lose(1, error)
                return
            middle = len(batch) // 2
            self._write(batch[:middle])
            self._write(batch[middle:])

    def _lose(self, number: int, error: MetaError) -> None:
        AUDIT_LOST.inc(number)
        _log.error("audit_records_lost", number=number, reason=str(error))
