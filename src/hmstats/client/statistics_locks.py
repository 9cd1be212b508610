"""Calls that lock statistics against writes. Only hmstats has them."""

from typing import Any

from hmstats.client.connection.connection import Connection
from hmstats.errors import UnknownCall
from hmstats.model.statistics.statistics_locks import LockedObject, StatisticsLock
from hmstats.wire.idl import extension
from hmstats.wire.statistics import statistics_locks as codec


class StatisticsLockCalls:
    """Locks on statistics of databases, tables, partitions and columns.

    Every method raises ServiceUnavailable if the metastore cannot be reached, CallRefused if it answers with an
    exception, and UnknownCall if it is not hmstats. With `if_version` a change is refused unless the table has this
    version (`pending.of_table`).
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lock(
        self,
        of: LockedObject,
        *,
        refuse: bool | None = None,
        reason: str | None = None,
        if_version: int | None = None,
    ) -> None:
        """Lock statistics: writes are accepted and dropped, or with `refuse` refused (None: as the server is set)."""
        self._ask("lock_statistics", codec.object_to_thrift(of, refuse=refuse, reason=reason, ifVersion=if_version))

    def unlock(self, of: LockedObject, *, if_version: int | None = None) -> int:
        """Remove the locks of exactly this object, without columns those of its columns too; returns their number."""
        return int(self._ask("unlock_statistics", codec.object_to_thrift(of, ifVersion=if_version)))

    def listed(
        self, databases: str | None = None, tables: str | None = None, catalog: str | None = None
    ) -> list[StatisticsLock]:
        """The locks in databases, and of the tables in them, that match patterns (None: all)."""
        request = extension.StatisticsLocksRequest(catName=catalog, dbPatterns=databases, tblPatterns=tables)
        return [codec.lock_from_thrift(each) for each in self._ask("get_statistics_locks", request).locks]

    def _ask(self, method: str, request: Any) -> Any:
        try:
            return self._connection.call(method, request)
        except UnknownCall as error:
            sentence = f"the metastore at {self._connection.address} is not hmstats, which alone locks statistics"
            raise UnknownCall(method, error.kind, sentence) from error
