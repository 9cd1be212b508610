"""The notification log for its readers, and events of files that only their writers know of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import Partition, Table, TableName
from hmstats.model.events import Inserted, Logged, NotificationFilter, Reloaded
from hmstats.store.catalog import tables
from hmstats.store.changes import notifications
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.unit.unit import Unit

_log = structlog.get_logger("hmstats.notifications")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Files written to a table, or to the partition with these values; `replacing` the files there before."""

    files: Sequence[str]
    values: Sequence[str] = ()
    replacing: bool = True


class NotificationLog:
    """The log of changes of the catalog; empty if the store does not write one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, wanted: NotificationFilter, limit: int | None = None) -> list[Logged]:
        """The first `limit` of the wanted notifications, or all of them, in order."""
        with self._store.read() as connection:
            return notifications.read(connection, wanted, limit)

    def current_id(self) -> int:
        """The id of the last event; 0 before the first."""
        with self._store.read() as connection:
            return notifications.current_id(connection)

    def count(self, wanted: NotificationFilter) -> int:
        """The number of wanted notifications."""
        with self._store.read() as connection:
            return notifications.count(connection, wanted)

    def record_insertions(self, name: TableName, insertions: Sequence[Insertion]) -> list[int]:
        """Record that files were written to a table or its partitions. Returns the events' ids, in order.

        Raises NoSuchObject if the table or one of the partitions does not exist.
        """

        def write(unit: Unit) -> list[int]:
            table, partitions_found = _table_and_partitions(unit, name, [each.values for each in insertions])
            for each in insertions:
                partition = partitions_found[tuple(each.values)] if each.values else None
                unit.record(Inserted(table, partition, each.files, each.replacing))
            return list(self._store.log(unit))

        return self._store.write(write)

    def record_reload(
        self, name: TableName, values: Sequence[str], parameters: Mapping[str, str], *, refresh: bool
    ) -> list[int]:
        """Record that a table or a partition must be refreshed or invalidated. Returns the event's id in a list.

        `parameters` are added to the table's in the message. Raises NoSuchObject if the table or partition is missing.
        """

        def write(unit: Unit) -> list[int]:
            table, partitions_found = _table_and_partitions(unit, name, [values])
            with_parameters = replace(table, parameters={**table.parameters, **parameters})
            unit.record(Reloaded(with_parameters, partitions_found.get(tuple(values)), refresh))
            return list(self._store.log(unit))

        return self._store.write(write)

    def remove_older(self, retention_seconds: float) -> int:
        """Remove notifications older than `retention_seconds`, in small transactions. Returns their number."""
        removed = 0
        while count := self._store.write(
            lambda unit: notifications.remove_older(unit, int(unit.now_seconds - retention_seconds))
        ):
            removed += count
        if removed:
            _log.info("notifications_removed", number=removed)
        return removed


def _table_and_partitions(
    unit: Unit, name: TableName, values: Sequence[Sequence[str]]
) -> tuple[Table, Mapping[tuple[str, ...], Partition]]:
    """The table, and its named partitions by their values; empty values name the table itself."""
    table = tables.get(unit.connection, name)
    if table is None or table.id is None:
        raise NoSuchObject(f"{name} table not found")
    keys = [key.name for key in table.partition_keys]
    names = {tuple(each): partition_name(keys, each) for each in values if each}
    stored = partitions.get_many(unit.connection, table.id, list(names.values())) if names else {}
    for partition in names.values():
        if partition not in stored:
            raise NoSuchObject(f"partition {partition} of table {name} not found")
    return table, {each: stored[partition] for each, partition in names.items()}
