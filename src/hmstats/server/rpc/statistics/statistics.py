"""Calls about column statistics.

If a request has an `engine`, and that is not Impala, its client is of the Hive 4 generation and knows timestampStats.
Any other client gets longStats for timestamps, since it would ignore the newer union member. One without an engine is a
planner whose checks are strict (repair.py).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hmstats.errors import InvalidInput, MetaError
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, StatisticsSet
from hmstats.model.statistics.flat_statistics import FlatColumns, FlatStatistics
from hmstats.model.transactions.transactions import WriteState
from hmstats.server.messages.struct_codec import Encoded
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.statistics.reading.aggregate import StatisticsAggregator
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.wire.idl import hive_metastore
from hmstats.wire.statistics import statistics_bytes
from hmstats.wire.statistics.column_statistics import reads_timestamp_statistics, set_from_thrift, sets_from_thrift


class StatisticsCalls:
    """update, set, get and delete of column statistics."""

    def __init__(
        self,
        reader: StatisticsReader,
        aggregator: StatisticsAggregator,
        writer: StatisticsWriter,
        *,
        send_sketches: bool,
    ) -> None:
        self._reader = reader
        self._aggregator = aggregator
        self._writer = writer
        self._sketches = send_sketches

    def update_table_column_statistics(self, session: Session, stats_obj: Any) -> bool:
        """Write a table's column statistics."""
        name, statistics = set_from_thrift(stats_obj)
        self._writer.update_table(subject.add_to_log(name), statistics, WriteOptions(author=subject.author(session)))
        return True

    def update_table_column_statistics_req(self, session: Session, req: Any) -> Any:
        """Write a table's column statistics."""
        self._writer.update_table(*_only_set(req), _options(session, req))
        return hive_metastore.SetPartitionsStatsResponse(result=True)

    def update_partition_column_statistics(self, session: Session, stats_obj: Any) -> bool:
        """Write a partition's column statistics."""
        name, statistics = set_from_thrift(stats_obj)
        self._writer.update_partitions(
            subject.add_to_log(name), [statistics], WriteOptions(author=subject.author(session))
        )
        return True

    def update_partition_column_statistics_req(self, session: Session, req: Any) -> Any:
        """Write a partition's column statistics."""
        name, statistics = _only_set(req)
        self._writer.update_partitions(name, [statistics], _options(session, req))
        return hive_metastore.SetPartitionsStatsResponse(result=True)

    def set_aggr_stats_for(self, session: Session, request: Any) -> bool:
        """Write the column statistics of a table or of many of its partitions, all or none.

        With `needMerge` they describe new rows, and are merged into the stored ones.
        """
        sets = sets_from_thrift(request.colStats or [], request.engine)
        of_table = bool(sets) and request.colStats[0].statsDesc.isTblLevel
        options = WriteOptions(bool(request.needMerge), subject.author(session), _write_state(request))
        write_sets(self._writer, sets, of_table, options)
        return True

    def get_table_column_statistics(self, session: Session, db_name: str, tbl_name: str, col_name: str) -> Any:
        """One column's statistics of a table; NoSuchObjectException when there are none."""
        name = subject.table(db_name, tbl_name)
        return self._column(name, self._reader.table_column(name, subject.column(col_name)))

    def get_partition_column_statistics(
        self, session: Session, db_name: str, tbl_name: str, part_name: str, col_name: str
    ) -> Any:
        """One column's statistics of a partition; NoSuchObjectException when there are none."""
        name = subject.table(db_name, tbl_name)
        return self._column(name, self._reader.partition_column(name, part_name, subject.column(col_name)))

    def get_table_statistics_req(self, session: Session, request: Any) -> Any:
        """Statistics of some columns of a table; a column without any is left out."""
        found = self._reader.flat_table(
            _table(request),
            _columns(request),
            request.engine or DEFAULT_ENGINE,
            repaired=request.engine is None,
            valid=request.validWriteIdList,
        )
        return Encoded(statistics_bytes.table_result(self._objects(request, found)))

    def get_partitions_statistics_req(self, session: Session, request: Any) -> Any:
        """Statistics of some columns of some partitions; columns and partitions without any are left out."""
        found = self._reader.flat_partitions(
            _table(request),
            request.partNames or [],
            _columns(request),
            request.engine or DEFAULT_ENGINE,
            repaired=request.engine is None,
            valid=request.validWriteIdList,
        )
        encoded = {partition: self._objects(request, columns) for partition, columns in found.items()}
        return Encoded(statistics_bytes.partitions_result(encoded))

    def get_aggr_stats_for(self, session: Session, request: Any) -> Any:
        """Statistics of some columns, merged over some partitions; a column without any is left out."""
        name, names, engine = _table(request), request.partNames or [], request.engine or DEFAULT_ENGINE
        found = self._aggregator.partitions(
            name,
            names,
            _columns(request),
            engine,
            histograms=self._sketches,
            valid=request.validWriteIdList,
        )
        columns = self._objects(request, found.flat(name, repaired=request.engine is None))
        return Encoded(statistics_bytes.aggregate_result(columns, found.partitions_found))

    def delete_table_column_statistics(
        self, session: Session, db_name: str, tbl_name: str, col_name: str | None, engine: str | None
    ) -> bool:
        """Delete one column's statistics of a table, or every column's; there may be none."""
        self._writer.delete_table(subject.table(db_name, tbl_name), _columns_of(col_name), _deleted_engine(engine))
        return True

    def delete_partition_column_statistics(
        self, session: Session, db_name: str, tbl_name: str, part_name: str, col_name: str | None, engine: str | None
    ) -> bool:
        """Delete one column's statistics of a partition, or every column's; there may be none."""
        self._writer.delete_partitions(
            subject.table(db_name, tbl_name), [part_name], _columns_of(col_name), _deleted_engine(engine)
        )
        return True

    def delete_column_statistics_req(self, session: Session, req: Any) -> bool:
        """Delete statistics of some or all columns, of a table or some or all of its partitions; there may be none."""
        name = subject.table(req.db_name, req.tbl_name, req.cat_name)
        columns = [subject.column(each) for each in req.col_names or []] or None
        if req.tableLevel:
            self._writer.delete_table(name, columns, _deleted_engine(req.engine))
        else:
            self._writer.delete_partitions(name, req.part_names or None, columns, _deleted_engine(req.engine))
        return True

    def _column(self, name: TableName, found: FlatColumns) -> Encoded:
        statistics = [each for each in found.statistics if each is not None]
        (column,) = statistics_bytes.objects(statistics, hive4=False, sketches=self._sketches)
        partition, engine = found.partitions[0] or None, found.engines[0]
        return Encoded(statistics_bytes.column_result(name, column, partition, found.analyzed_seconds[0], engine))

    def _objects(self, request: Any, columns: Sequence[FlatStatistics]) -> list[bytes]:
        """The columns in the form that a request asks for."""
        return statistics_bytes.objects(
            columns, hive4=reads_timestamp_statistics(request.engine), sketches=self._sketches
        )


def write_sets(
    writer: StatisticsWriter, sets: Sequence[tuple[TableName, StatisticsSet]], of_table: bool, options: WriteOptions
) -> None:
    """Write the sets of one call: one of a table, or some of its partitions."""
    if not sets:
        return
    name = subject.add_to_log(sets[0][0])
    if any(each != name for each, _ in sets):
        raise InvalidInput(f"the statistics of one call must be of one table, found {name} and others")
    if not of_table:
        writer.update_partitions(name, [each for _, each in sets], options)
        return
    if len(sets) != 1:
        raise MetaError(f"Expecting only 1 ColumnStatistics for table's column stats, but find {len(sets)}")
    writer.update_table(name, sets[0][1], options)


def write_changed(
    writer: StatisticsWriter,
    name: TableName,
    changes: Mapping[str | None, ParameterChange],
    sets: Sequence[tuple[TableName, StatisticsSet]],
    options: WriteOptions,
) -> None:
    """Change parameters, of partitions by name or of the table itself (None), and write the sets of the same call."""
    if any(each != name for each, _ in sets):
        raise InvalidInput(f"the statistics of one call must be of one table, found {name} and others")
    places = {*changes, *(each.partition for _, each in sets)}
    if None not in places:
        of_partitions = {partition: change for partition, change in changes.items() if partition is not None}
        given = [each for _, each in sets]
        writer.update_partitions(name, given, options, changes=of_partitions)
        return
    if len(places) > 1 or len(sets) > 1:
        raise InvalidInput(f"a call must be about table {name} itself or about partitions of it, found both")
    own = next((each for _, each in sets), StatisticsSet(()))
    writer.update_table(name, own, options, change=changes.get(None))


def _options(session: Session, request: Any) -> WriteOptions:
    """The options of a request that replaces statistics of a table or a partition."""
    return WriteOptions(author=subject.author(session), state=_write_state(request))


def _write_state(request: Any) -> WriteState:
    """The transaction and valid write ids that a request to write names."""
    return WriteState(request.writeId, request.validWriteIdList)


def _only_set(request: Any) -> tuple[TableName, StatisticsSet]:
    structs = request.colStats or []
    if len(structs) != 1:
        raise InvalidInput("Only one stats object expected")
    if request.needMerge:
        raise InvalidInput("Merge is not supported for non-aggregate stats")
    name, statistics = set_from_thrift(structs[0], request.engine)
    return subject.add_to_log(name), statistics


def _table(request: Any) -> TableName:
    return subject.table(request.dbName, request.tblName, request.catName)


def _columns(request: Any) -> list[str]:
    return [subject.column(name) for name in request.colNames or []]


def _deleted_engine(engine: str | None) -> str | None:
    """The engine whose statistics are deleted, None for all; an empty one stands for the default engine."""
    return DEFAULT_ENGINE if engine == "" else engine


def _columns_of(column: str | None) -> list[str] | None:
    return None if column is None else [subject.column(column)]
