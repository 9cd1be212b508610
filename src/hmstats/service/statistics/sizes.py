"""Rows, files and bytes of partitioned tables that do not say them themselves: their partitions' together.

They are computed for an answer and never stored (model/computed.py). What was computed is kept in memory for as long as
the table's version is the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hmstats.model.catalog import Table
from hmstats.model.computed import with_computed
from hmstats.store import partition_sizes, versions
from hmstats.store.engine import Store

_MOST_KEPT = 10_000


class TableSizes:
    """Adds sizes to tables; used by many threads at once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[int, tuple[int, Mapping[str, int]]] = {}

    def added(self, tables: Sequence[Table]) -> list[Table]:
        """The tables, with the sizes that they do not say and that every one of their partitions does."""
        wanted = [each.id for each in tables if each.id is not None and _lacks_sizes(each)]
        found = self._read(wanted) if wanted else {}
        return [_with_sizes(each, found.get(each.id or 0, {})) for each in tables]

    def _read(self, table_ids: Sequence[int]) -> dict[int, Mapping[str, int]]:
        with self._store.read() as connection:
            current = versions.read_many(connection, table_ids)
            kept = {each: self._kept[each] for each in table_ids if each in self._kept}
            found = {each: sizes for each, (version, sizes) in kept.items() if version == current.get(each)}
            stale = [each for each in table_ids if each not in found]
            fresh = partition_sizes.of_tables(connection, stale) if stale else {}
        for each in stale:
            found[each] = fresh.get(each, {})
            self._keep(each, current.get(each), found[each])
        return found

    def _keep(self, table_id: int, version: int | None, sizes: Mapping[str, int]) -> None:
        """Keep them, unless the table has no version to tell when they are old: a Hive changes tables without."""
        if version is None or self._store.shape.beside_hive:
            return
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[table_id] = (version, sizes)


def _lacks_sizes(table: Table) -> bool:
    return bool(table.partition_keys) and any(key not in table.parameters for key in partition_sizes.KEYS)


def _with_sizes(table: Table, found: Mapping[str, int]) -> Table:
    missing = {key: str(size) for key, size in found.items() if key not in table.parameters}
    return replace(table, parameters=with_computed(table.parameters, missing)) if missing else table
