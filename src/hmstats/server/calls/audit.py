"""The audit log: a line of JSON for each call of which it keeps a record, by the logger `hmstats.audit`.

Lines go where the log goes, whatever its level, and to a file if one is named. Denied calls and changes are always
recorded, reads all or a share of them.
"""

import json
import logging
import os
import random
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from typing import Any

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.server.calls.call_kinds import CHANGES
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import Session

_PRIVATE = 0o600

_log = logging.getLogger("hmstats.audit")


class AuditLog:
    """Records calls. `reads_share` is the share of reads that is recorded, from 0 to 1. Thread-safe."""

    def __init__(self, reads_share: float = 0.0, worker: int | None = None) -> None:
        self._reads_share = reads_share
        self._worker = worker

    @property
    def reads(self) -> bool:
        """Whether any read is recorded."""
        return self._reads_share > 0

    def record(self, request: Request, session: Session, outcome: str) -> None:
        """Write the line of a call that has ended, if it is to be recorded."""
        name, verdict = request.head.name, request.verdict
        allowed = verdict is None or verdict.allowed
        if allowed and name not in CHANGES and random.random() >= self._reads_share:
            return
        found = {"objects": list(verdict.objects), "rule": verdict.rule} if verdict else {}
        self._write(session, {"call": name, **found, "allowed": allowed, "outcome": outcome})

    def record_unproven(self, session: Session, call: str | None) -> None:
        """Write the line of a call that did not run for want of a proven user; None if its name was not read."""
        self._write(session, {"call": call, "allowed": False, "outcome": NotAuthenticated.__name__})

    def _write(self, session: Session, call: dict[str, Any]) -> None:
        principal = session.principal
        line: dict[str, Any] = {
            "event": "audit",
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "worker": self._worker,
            "connection": session.connection_id,
            "address": session.peer,
            "principal": principal.user if principal else None,
            "mechanism": principal.mechanism if principal else None,
            "user": session.user,
            "objects": [],
            "rule": None,
            **call,
        }
        _log.info(json.dumps(line))


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
