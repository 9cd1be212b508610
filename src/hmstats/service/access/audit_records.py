"""Calls that were recorded: added by servers, found by operators, removed when they grow old."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import structlog

from hmstats.model.access.audit_record import AuditRecord, WantedRecords
from hmstats.store.access import audit_records
from hmstats.store.access.audit_records import Numbered
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit

__all__ = ["AuditRecords", "Numbered", "RecordPage"]

_log = structlog.get_logger("hmstats.audit_records")


class RecordPage(NamedTuple):
    """Records, the newest first; `more` if older ones were left out."""

    records: Sequence[AuditRecord]
    more: bool


class AuditRecords:
    """The audit records of one database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, records: Sequence[Numbered]) -> None:
        """Store records; stored ones do not change.

        Raises StoreUnavailable if the database does not answer, MetaError if it refuses one of them.
        """
        self._store.write(partial(audit_records.insert_many, records=records))

    def find(self, wanted: WantedRecords, limit: int) -> RecordPage:
        """The newest of the wanted records, `limit` at most."""
        with self._store.read() as connection:
            records = audit_records.newest(connection, wanted, limit + 1)
        return RecordPage(records[:limit], more=len(records) > limit)

    def remove_older(self, retention_seconds: float) -> int:
        """Remove records older than `retention_seconds`, in small transactions. Returns their number."""

        def remove(unit: Unit) -> int:
            return audit_records.remove_older(unit, int((unit.now_seconds - retention_seconds) * 1000))

        removed = 0
        while count := self._store.write(remove):
            removed += count
        if removed:
            _log.info("audit_records_removed", number=removed)
        return removed
