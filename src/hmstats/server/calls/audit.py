"""The audit log: a line of JSON for each call of which it keeps a record, by the logger `hmstats.audit`.

Lines go where the log goes, whatever its level, to a file if one is named, and to a table of the database if wanted.
Denied calls and changes are always recorded, reads all or a share of them.
"""

import json
import logging
import os
import random
import time
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access.audit_record import AuditRecord
from hmstats.server.calls.audit_table import AuditTable
from hmstats.server.calls.call_kinds import CHANGES
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import Session

_PRIVATE = 0o600

_log = logging.getLogger("hmstats.audit")


class AuditLog:
    """Records calls. `reads_share` is the share of reads that is recorded, from 0 to 1. Thread-safe.

    With a `table`, records go there too.
    """

    def __init__(self, reads_share: float = 0.0, worker: int | None = None, table: AuditTable | None = None) -> None:
        self._reads_share = reads_share
        self._worker = worker
        self.table = table

    @property
    def reads(self) -> bool:
        """Whether any read is recorded."""
        return self._reads_share > 0

    def record(self, request: Request, session: Session, outcome: str) -> None:
        """Record a call that has ended, if it is to be recorded."""
        name, verdict = request.head.name, request.verdict
        allowed, changes = verdict is None or verdict.allowed, name in CHANGES
        if allowed and not changes and random.random() >= self._reads_share:
            return
        objects, rule = (verdict.objects, verdict.rule) if verdict else ((), None)
        record = self._record_of(session, name, objects, allowed=allowed, rule=rule, outcome=outcome)
        self._write(record, changes=allowed and changes)

    def record_unproven(self, session: Session, call: str | None) -> None:
        """Record a call that did not run for want of a proven user; None if its name was not read."""
        record = self._record_of(session, call, (), allowed=False, rule=None, outcome=NotAuthenticated.__name__)
        self._write(record, changes=False)

    def _record_of(
        self,
        session: Session,
        call: str | None,
        objects: tuple[str, ...],
        *,
        allowed: bool,
        rule: int | None,
        outcome: str,
    ) -> AuditRecord:
        principal = session.principal
        return AuditRecord(
            time_ms=time.time_ns() // 1_000_000,
            worker=self._worker,
            connection=session.connection_id,
            address=session.peer,
            principal=principal.user if principal else None,
            mechanism=principal.mechanism if principal else None,
            user=session.user,
            call=call,
            objects=objects,
            allowed=allowed,
            rule=rule,
            outcome=outcome,
            via=principal.via if principal else None,
        )

    def _write(self, record: AuditRecord, *, changes: bool) -> None:
        _log.info(json.dumps({"event": "audit"} | record.fields()))
        if self.table is not None:
            self.table.add(record, changes=changes)


def send_audit_to(file: str | None) -> None:
    """Write audit lines to the process's log and, if a file is named, to its end; the file is its owner's only.

    A file that was moved away is made anew. Raises SettingsError if the file cannot be written.
    """
    _log.setLevel(logging.INFO)
    if file is None:
        return
    try:
        handler = _PrivateFile(file, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"audit_file {file} cannot be written: {error.strerror}") from error
    handler.setFormatter(logging.Formatter("%(message)s"))
    _log.addHandler(handler)


class _PrivateFile(WatchedFileHandler):
    """Appends to a file that only its owner can read; several processes may do so."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, _PRIVATE)
