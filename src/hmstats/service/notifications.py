"""The notification log as its readers use it, and the events that only a client knows of: files it has written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from hmstats.errors import NoSuchObject
from hmstats.model.catalog import Partition, Table, TableName
from hmstats.model.events import Inserted, Logged, Reloaded, Wanted
from hmstats.model.names import partition_name
from hmstats.store import notifications, partitions, tables
from hmstats.store.engine import Store
from hmstats.store.unit import Unit

_log = structlog.get_logger("hmstats.notifications")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Files that were written to a table, or to its partition with these values; `replacing` those that were there."""

    files: Sequence[str]
    values: Sequence[str] = ()
    replacing: bool = True


class NotificationLog:
    """What happened in the catalog. Whether it is kept is the store's choice; without it there is nothing to read."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, wanted: Wanted, limit: int | None = None) -> list[Logged]:
        """The first `limit` of the wanted notifications, or all of them, in order."""
        with self._store.read() as connection:
            return notifications.read(connection, wanted, limit)

    def current_id(self) -> int:
        """The id of the last event; 0 before the first."""
        with self._store.read() as connection:
            return notifications.current_id(connection)

    def count(self, wanted: Wanted) -> int:
        """How many of the wanted notifications there are."""
        with self._store.read() as connection:
            return notifications.count(connection, wanted)

    def inserted(self, name: TableName, insertions: Sequence[Insertion]) -> list[int]:
        """Write that files came into a table or its partitions; the events' ids, in order.

        Raises NoSuchObject without the table or one of the partitions.
        """

        def write(unit: Unit) -> list[int]:
            table, found = _find(unit, name, [each.values for each in insertions])
            for each in insertions:
                partition = found[tuple(each.values)] if each.values else None
                unit.record(Inserted(table, partition, each.files, each.replacing))
            return list(self._store.log(unit))

        return self._store.write(write)

    def reload(
        self, name: TableName, values: Sequence[str], parameters: Mapping[str, str], *, refresh: bool
    ) -> list[int]:
        """Write that a table or a partition is to be read anew, or forgotten; the event's id.

        `parameters` are added to the table's in the message. Raises NoSuchObject without the table or the partition.
        """

        def write(unit: Unit) -> list[int]:
            table, found = _find(unit, name, [values])
            told = replace(table, parameters={**table.parameters, **parameters})
            unit.record(Reloaded(told, found.get(tuple(values)), refresh))
            return list(self._store.log(unit))

        return self._store.write(write)

    def remove_older(self, retention_seconds: float) -> int:
        """Remove what is older than that, in small transactions; how many notifications."""
        removed = 0
        while found := self._store.write(
            lambda unit: notifications.remove_older(unit, int(unit.now_seconds - retention_seconds))
        ):
            removed += found
        if removed:
            _log.info("notifications_removed", number=removed)
        return removed


def _find(
    unit: Unit, name: TableName, values: Sequence[Sequence[str]]
) -> tuple[Table, Mapping[tuple[str, ...], Partition]]:
    """The table, and by their values those of its partitions that are named; no values name the table itself."""
    table = tables.get(unit.connection, name)
    if table is None or table.id is None:
        raise NoSuchObject(f"{name} table not found")
    keys = [key.name for key in table.partition_keys]
    names = {tuple(each): partition_name(keys, each) for each in values if each}
    stored = partitions.get_many(unit.connection, table.id, list(names.values())) if names else {}
    for wanted in names.values():
        if wanted not in stored:
            raise NoSuchObject(f"partition {wanted} of table {name} not found")
    return table, {each: stored[wanted] for each, wanted in names.items()}
