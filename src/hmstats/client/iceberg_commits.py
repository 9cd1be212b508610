"""Commits to Iceberg tables: the metastore's pointer to a table's metadata file moves to a new file, or stays.

A commit is safe against both kinds of other committers: it holds the metastore's lock on the table, as Iceberg's
HiveCatalog does by default, and it names the metadata file that it replaces, which the metastore checks, as HiveCatalog
does with engine.hive.lock-enabled=false (Hive 3.1 and older ignore that).
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import Any

from hmstats.client.connection.connection import Connection
from hmstats.errors import CallRefused, ServiceError
from hmstats.model.catalog.names import database_text
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.computed import OWN
from hmstats.process_user import user_name
from hmstats.wire.idl import hive_metastore

METADATA = "metadata_location"
PREVIOUS = "previous_metadata_location"
PATIENCE_SECONDS = 60.0
"""How long a commit waits for the lock; others hold it for about a second."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.05, 1.0
_MODIFIED = "The table has been modified"


class IcebergCommits:
    """Commits to Iceberg tables of a metastore, Hive's or ours.

    Every method raises ServiceUnavailable if the metastore cannot be reached, and CallRefused if it refuses.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def lock(self, name: TableName) -> Iterator[None]:
        """Hold the metastore's exclusive lock on a table. Raises ServiceError if others hold it too long."""
        held = self._connection.call("lock", _lock_request(name))
        try:
            self._await(name, held)
            yield
        finally:
            with suppress(CallRefused):  # a lock that has expired is gone
                self._connection.call("unlock", hive_metastore.UnlockRequest(lockid=held.lockid))

    def metadata_location(self, name: TableName) -> str | None:
        """The table's metadata file; None if it is no Iceberg table."""
        found: str | None = (self._table(name).parameters or {}).get(METADATA)
        return found

    def replace(self, name: TableName, before: str, after: str) -> bool:
        """Make another metadata file the table's; False, with nothing changed, if `before` is no longer its file.

        Other parameters stay. A repeated call whose first answer was lost returns True.
        """
        table = self._table(name)
        found = (table.parameters or {}).get(METADATA)
        if found != before:
            return bool(found == after)
        table.parameters = {**table.parameters, METADATA: after, PREVIOUS: before}
        context = {
            "DO_NOT_UPDATE_STATS": "true",
            OWN: f"{METADATA},{PREVIOUS}",
            "expected_parameter_key": METADATA,
            "expected_parameter_value": before,
        }
        place = (database_text(name.parent), name.table)
        try:
            self._connection.call(
                "alter_table_with_environment_context",
                *place,
                table,
                hive_metastore.EnvironmentContext(properties=context),
            )
        except CallRefused as error:
            if _MODIFIED not in error.message:
                raise
            return self.metadata_location(name) == after
        return True

    def _await(self, name: TableName, held: Any) -> None:
        end, pause = monotonic() + PATIENCE_SECONDS, _FIRST_PAUSE_SECONDS
        while held.state != hive_metastore.LockState.ACQUIRED:
            if held.state != hive_metastore.LockState.WAITING or monotonic() > end:
                raise ServiceError(
                    f"table {name.typed} is locked by others, for more than {PATIENCE_SECONDS:g} seconds"
                )
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            held = self._connection.call("check_lock", hive_metastore.CheckLockRequest(lockid=held.lockid))

    def _table(self, name: TableName) -> Any:
        request = hive_metastore.GetTableRequest(dbName=name.database, tblName=name.table, catName=name.catalog)
        return self._connection.call("get_table_req", request).table


def _lock_request(name: TableName) -> Any:
    component = hive_metastore.LockComponent(
        type=hive_metastore.LockType.EXCLUSIVE,
        level=hive_metastore.LockLevel.TABLE,
        dbname=name.database,
        tablename=name.table,
    )
    return hive_metastore.LockRequest(component=[component], user=user_name(), hostname=socket.gethostname())
