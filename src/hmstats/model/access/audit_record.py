"""A call that is recorded: by whom, about what, and how it ended."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A recorded call. `time_ms` is epoch milliseconds; `call` is None if its name was not read.

    `principal` is the user that was proven, or that a proven user, `via`, acts as; `user` is what the client is called
    without a proof. `objects` are texts
    `catalog.database.table`, or shorter ones. `rule` is the number of the access rule that decided.
    """

    time_ms: int
    worker: int | None
    connection: int
    address: str
    principal: str | None
    mechanism: str | None
    user: str | None
    call: str | None
    objects: tuple[str, ...]
    allowed: bool
    rule: int | None
    outcome: str
    via: str | None = None

    def fields(self) -> dict[str, Any]:
        """The record as programs read it, with its time as a text."""
        return {
            "time": datetime.fromtimestamp(self.time_ms / 1000, UTC).isoformat(timespec="milliseconds"),
            "worker": self.worker,
            "connection": self.connection,
            "address": self.address,
            "principal": self.principal,
            "via": self.via,
            "mechanism": self.mechanism,
            "user": self.user,
            "call": self.call,
            "objects": list(self.objects),
            "allowed": self.allowed,
            "rule": self.rule,
            "outcome": self.outcome,
        }


@dataclass(frozen=True, slots=True)
class WantedRecords:
    """The records to find; what is None is not looked at.

    `about` is a table in three parts, a database in two: catalog, database, table. A table's records include those of
    its database and catalog, a database's those of its tables and catalog. `user` is a proven user, one as whom another
    acts, or a named one.
    """

    about: tuple[str, ...] | None = None
    since_ms: int | None = None
    user: str | None = None
    denied: bool = False
