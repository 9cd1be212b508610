"""Statistics of mirrors that the other metastore has not got yet.

Nothing is queued: what is to be sent follows from the rows themselves. A mirror is looked at when its version is above
the one that was sent last, so a write and the duty to send it are one transaction, and many writes are sent once.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.service.mirrors.digests import digest
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.mirrors import mirrored, seen
from hmstats.store.mirrors.mirrored import Mirror
from hmstats.store.mirrors.seen import Seen
from hmstats.store.partitions import partitions
from hmstats.store.statistics import column_statistics
from hmstats.store.statistics.details import OF_TABLE

_MOST_AT_ONCE = 100


class Unsettled(NamedTuple):
    """Statistics of one engine that the other metastore lacks, of the table itself (None) or of partitions by name."""

    engine: str
    names: list[str] | None
    columns: tuple[str, ...]


class Unsent:
    """Finds mirrors whose statistics must be sent, and these statistics."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def everything(self) -> Iterator[Mirror]:
        """All mirrors to be sent, claimed or not."""
        after = 0
        while True:
            with self._store.read() as connection:
                found = mirrored.unsent(connection, _MOST_AT_ONCE, after)
            if not found:
                return
            yield from found
            after = found[-1].table_id

    def is_unsent(self, name: TableName) -> bool:
        """Whether the mirror of a table is to be sent."""
        with self._store.read() as connection:
            table_id = tables.find_id(connection, name)
            return table_id is not None and mirrored.is_unsent(connection, table_id)

    def count(self) -> int:
        """The number of mirrors to be sent."""
        with self._store.read() as connection:
            return mirrored.count_unsent(connection)

    def unsettled(self, mirror: Mirror) -> Iterator[Unsettled]:
        """The statistics of a mirror that the other metastore was never seen to agree with, partitions in batches."""
        with self._store.read() as connection:
            own = column_statistics.read_table(connection, mirror.table_id, None, None)
            names = partitions.names(connection, mirror.table_id)
            known = {each.engine: seen.read(connection, mirror.table_id, each.engine, [OF_TABLE]) for each in own}
        for each in own:
            columns = _unknown(each, known[each.engine].get(OF_TABLE, {}))
            if columns:
                yield Unsettled(each.engine, None, tuple(columns))
        for start in range(0, len(names), _MOST_AT_ONCE):
            yield from self._of_partitions(mirror, names[start : start + _MOST_AT_ONCE])

    def mirror_of(self, name: TableName) -> Mirror | None:
        """The mirror of a table, whether or not it is to be sent; None if there is none."""
        with self._store.read() as connection:
            table_id = tables.find_id(connection, name)
            return None if table_id is None else Mirror(table_id, name, versions.read(connection, table_id))

    def name_of(self, mirror: Mirror) -> TableName | None:
        """The name that a mirror has now; None if it was removed."""
        with self._store.read() as connection:
            return tables.find_name(connection, mirror.table_id)

    def statistics(self, mirror: Mirror, wanted: Unsettled, there: Collection[str]) -> list[StatisticsSet]:
        """The sets of what is unsettled still, with sketches; only of columns that are `there`."""
        wanted = wanted._replace(columns=tuple(each for each in wanted.columns if each in there))
        with self._store.read() as connection:
            place = connection, mirror.table_id
            if wanted.names is None:
                found = column_statistics.read_table(*place, wanted.columns, wanted.engine)
                known = seen.read(*place, wanted.engine, [OF_TABLE])
                return [
                    _unsent_part(each, known.get(OF_TABLE, {}))
                    for each in found
                    if _unknown(each, known.get(OF_TABLE, {}))
                ]
            by_name = column_statistics.read_partitions(*place, wanted.names, wanted.columns, wanted.engine)
            ids = partitions.find_ids(*place, wanted.names)
            known = seen.read(*place, wanted.engine, list(ids.values()))
        having = [(known.get(ids[name], {}), sets[0]) for name, sets in by_name.items() if sets and name in ids]
        return [_unsent_part(each, said) for said, each in having if _unknown(each, said)]

    def settled(self, mirror: Mirror, engine: str, columns: Mapping[str, Collection[str]]) -> list[StatisticsSet]:
        """The sets with which the other metastore agrees, of some columns by partition; "" is the table itself."""
        names = [each for each in columns if each]
        wanted = sorted({column for each in columns.values() for column in each})
        with self._store.read() as connection:
            place = connection, mirror.table_id
            ids = {"": OF_TABLE, **partitions.find_ids(*place, names)}
            known = seen.read(*place, engine, list(ids.values()))
            if not any(each.ours for by_column in known.values() for each in by_column.values()):
                return []
            found = column_statistics.read_partitions(*place, names, wanted, engine)
            if "" in columns:
                found = {"": column_statistics.read_table(*place, wanted, engine), **found}
        agreed = [
            _part(sets[0], set(columns[name]).difference(_unknown(sets[0], known.get(ids[name], {}))))
            for name, sets in found.items()
            if sets and name in ids
        ]
        return [each for each in agreed if each.columns]

    def version(self, table_id: int) -> int:
        """The version of a mirror."""
        with self._store.read() as connection:
            return versions.read(connection, table_id)

    def _of_partitions(self, mirror: Mirror, names: Sequence[str]) -> Iterator[Unsettled]:
        with self._store.read() as connection:
            by_name = column_statistics.read_partitions(connection, mirror.table_id, names, None, None)
            ids = partitions.find_ids(connection, mirror.table_id, list(by_name))
            engines = sorted({each.engine for sets in by_name.values() for each in sets})
            known = {engine: seen.read(connection, mirror.table_id, engine, list(ids.values())) for engine in engines}
        for engine in engines:
            wanted: dict[str, list[str]] = {}
            for name, sets in by_name.items():
                for each in sets:
                    if each.engine == engine and name in ids:
                        columns = _unknown(each, known[engine].get(ids[name], {}))
                        wanted |= {name: columns} if columns else {}
            if wanted:
                columns = sorted({column for each in wanted.values() for column in each})
                yield Unsettled(engine, list(wanted), tuple(columns))


def _unknown(statistics: StatisticsSet, known: Seen) -> list[str]:
    """The columns with statistics that the other metastore was not seen to agree with."""
    return [
        each.column
        for each in statistics.columns
        if each.column not in known or known[each.column].ours != digest(each, sketches=True)
    ]


def _unsent_part(statistics: StatisticsSet, known: Seen) -> StatisticsSet:
    return _part(statistics, _unknown(statistics, known))


def _part(statistics: StatisticsSet, columns: Collection[str]) -> StatisticsSet:
    """The statistics of some columns."""
    return StatisticsSet(
        tuple(each for each in statistics.columns if each.column in columns),
        statistics.partition,
        statistics.engine,
        statistics.last_analyzed_seconds,
    )
