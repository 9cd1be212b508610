"""Writing and deleting column statistics.

A write is checked whole before anything is stored, is an upsert by column and engine, and is stamped with the
server's time. Doing it twice is the same as once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hmstats.errors import InvalidObject, NoSuchObject
from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import Column, Parameters, TableName
from hmstats.model.column_statistics import StatisticsSet
from hmstats.model.names import normal_partition_name
from hmstats.service.statistics.missing import missing_table
from hmstats.service.statistics.validate import checked, exact_rows
from hmstats.store import column_statistics, parameters, partitions, targets, versions
from hmstats.store.engine import Store
from hmstats.store.parameters import OF_PARTITIONS, OF_TABLES
from hmstats.store.targets import Target
from hmstats.store.unit import Unit


class StatisticsWriter:
    """Changes column statistics. `keep_accuracy`: written columns are marked in COLUMN_STATS_ACCURATE."""

    def __init__(self, store: Store, *, keep_accuracy: bool = True) -> None:
        self._store = store
        self._keep_accuracy = keep_accuracy

    def update_table(self, name: TableName, statistics: StatisticsSet) -> None:
        """Write a table's column statistics.

        Raises NoSuchObject without the table, MetaError for an unknown column, InvalidInput for impossible numbers.
        """

        def update(unit: Unit) -> None:
            target = targets.lock(unit, name)
            if target is None:
                raise missing_table(name)
            columns = checked(name, target.columns, statistics.columns, exact_rows(target.parameters))
            stored = replace(statistics, columns=columns, partition=None, last_analyzed_seconds=unit.now_seconds)
            column_statistics.write_table(unit, target.id, name, stored)
            if self._keep_accuracy:
                parameters.put(unit, OF_TABLES, _marked({target.id: target.parameters}, {target.id: stored}))
            versions.bump(unit, target.id)

        self._store.write(update)

    def update_partitions(self, name: TableName, statistics: Sequence[StatisticsSet]) -> None:
        """Write column statistics of partitions, all or none; of two sets for one partition the later wins.

        Raises InvalidObject without the table, NoSuchObject without a partition, else as update_table does.
        """

        def update(unit: Unit) -> None:
            target = targets.lock(unit, name)
            if target is None:
                raise InvalidObject(f"{name} table not found")
            by_id = _placed(unit, name, target, statistics)
            known = parameters.read(unit.connection, OF_PARTITIONS, list(by_id), (PARAMETER, "numRows"))
            # Hive's clients write statistics of partition keys too, to partitions only.
            columns = (*target.columns, *target.partition_keys)
            stored = {
                each: _checked_set(unit, name, columns, given, known.get(each, {})) for each, given in by_id.items()
            }
            column_statistics.write_partitions(unit, name, stored)
            if self._keep_accuracy:
                parameters.put(unit, OF_PARTITIONS, _marked(known, stored))
            versions.bump(unit, target.id)

        self._store.write(update)

    def delete_table(self, name: TableName, columns: Sequence[str] | None, engine: str | None) -> None:
        """Delete statistics of these columns (None: all) and this engine (None: all) of a table; there may be none.

        Raises NoSuchObject without the table.
        """

        def delete(unit: Unit) -> None:
            target = targets.lock(unit, name)
            if target is None:
                raise missing_table(name)
            column_statistics.delete_tables(unit, [target.id], columns, engine)
            parameters.put(unit, OF_TABLES, _unmarked({target.id: target.parameters}, columns))
            versions.bump(unit, target.id)

        self._store.write(delete)

    def delete_partitions(
        self, name: TableName, partition_names: Sequence[str], columns: Sequence[str] | None, engine: str | None
    ) -> None:
        """Delete statistics of partitions as delete_table does; a partition that is not there has none.

        Raises InvalidObject without the table.
        """

        def delete(unit: Unit) -> None:
            target = targets.lock(unit, name)
            if target is None:
                raise InvalidObject(f"{name} table not found")
            wanted = [normal_partition_name(each, target.keys) for each in partition_names]
            ids = list(partitions.lock(unit, target.id, wanted).values())
            column_statistics.delete_partitions(unit, ids, columns, engine)
            known = parameters.read(unit.connection, OF_PARTITIONS, ids, (PARAMETER,))
            parameters.put(unit, OF_PARTITIONS, _unmarked(known, columns))
            versions.bump(unit, target.id)

        self._store.write(delete)


def _placed(
    unit: Unit, name: TableName, target: Target, statistics: Sequence[StatisticsSet]
) -> dict[int, StatisticsSet]:
    """The sets by partition id, under the partitions' stored names. Raises NoSuchObject for one that is not there."""
    merged: dict[str, StatisticsSet] = {}
    for each in statistics:
        partition = normal_partition_name(each.partition or "", target.keys)
        earlier = merged[partition].columns if partition in merged else ()
        merged[partition] = replace(each, partition=partition, columns=(*earlier, *each.columns))
    ids = partitions.lock(unit, target.id, list(merged))
    for partition in merged:
        if partition not in ids:
            raise NoSuchObject(f"Partition for which stats is gathered doesn't exist. {partition} of table {name}")
    return {ids[partition]: each for partition, each in merged.items()}


def _checked_set(
    unit: Unit, name: TableName, columns: Sequence[Column], given: StatisticsSet, known: Parameters
) -> StatisticsSet:
    fitting = checked(name, columns, given.columns, exact_rows(known))
    return replace(given, columns=fitting, last_analyzed_seconds=unit.now_seconds)


def _marked(known: Mapping[int, Parameters], written: Mapping[int, StatisticsSet]) -> dict[int, dict[str, str]]:
    """COLUMN_STATS_ACCURATE of each table or partition with the written columns added."""
    return {
        each: {PARAMETER: Accurate.parse(known.get(each, {}).get(PARAMETER)).with_columns(_names(given)).text()}
        for each, given in written.items()
    }


def _unmarked(known: Mapping[int, Parameters], columns: Sequence[str] | None) -> dict[int, dict[str, str]]:
    """COLUMN_STATS_ACCURATE without these columns, of those that have the parameter."""
    return {
        each: {PARAMETER: Accurate.parse(found[PARAMETER]).without_columns(columns).text()}
        for each, found in known.items()
        if PARAMETER in found
    }


def _names(statistics: StatisticsSet) -> list[str]:
    return [column.column for column in statistics.columns]
