"""Statistics that a new table, or new partitions, bring along; Hive 4 added the fields to its structs.

They are written in the transaction that adds the objects. The objects' own names count, not those in the statistics. As
in Hive, partitions that are not added since they exist get the statistics too.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from hmstats.model.catalog.objects import Partition, TableName
from hmstats.model.transactions.transactions import WriteState
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.store.unit.unit import Unit
from hmstats.wire.statistics.column_statistics import set_from_thrift


class BroughtStatistics:
    """Makes functions that write statistics together with the objects that bring them."""

    def __init__(self, writer: StatisticsWriter) -> None:
        self._writer = writer

    def of_table(self, session: Session, name: TableName, struct: Any) -> Callable[[Unit], object] | None:
        """The function that writes the statistics in a new table's struct; None if it has none. Raises InvalidInput."""
        if struct.colStats is None:
            return None
        given = replace(set_from_thrift(struct.colStats)[1], partition=None)
        options = WriteOptions(author=subject.author(session), state=WriteState(struct.writeId), brought=True)
        return lambda unit: self._writer.put_table(unit, name, given, None, options)

    def of_partitions(
        self, session: Session, name: TableName, structs: Iterable[Any]
    ) -> Callable[[Unit, Mapping[str, Partition]], None] | None:
        """The function that writes the statistics in structs of partitions; None if there are none.

        Raises InvalidInput.
        """
        given = {
            tuple(each.values or ()): set_from_thrift(each.colStats)[1]
            for each in structs
            if each is not None and each.colStats is not None
        }
        if not given:
            return None
        options = WriteOptions(author=subject.author(session), brought=True)

        def write(unit: Unit, partitions: Mapping[str, Partition]) -> None:
            sets = [
                replace(given[each.values], partition=partition)
                for partition, each in partitions.items()
                if each.values in given
            ]
            self._writer.put_partitions(unit, name, sets, {}, options)

        return write
