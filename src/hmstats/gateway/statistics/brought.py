"""Keeps statistics that come with new tables and partitions in relayed calls, exactly as they were sent.

A Hive 4 stores them, but truncates values that it has no room for. An older release does not know the fields, so the
statistics are sent to it afterwards like any others. Therefore the upstream's statistics of the new objects are taken
over first; those of the call are kept where the upstream has equal ones, or none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from hmstats.errors import MetastoreError
from hmstats.gateway.statistics.mirroring import Mirroring
from hmstats.gateway.statistics.statistics_calls import AccessMode, StatisticsScope
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls
from hmstats.model.catalog.names import partition_name, table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.server.messages.request import Request
from hmstats.service.mirrors.digests import say_the_same
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.wire.partitions.partition_specs import partitions_from_specs
from hmstats.wire.statistics.column_statistics import set_from_thrift

_log = structlog.get_logger("hmstats.gateway")

Arguments = Mapping[str, Any]
Values = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Brought:
    """The statistics that a call brings for one new table: the table's own, or those of partitions by their values."""

    table: TableName
    own: StatisticsSet | None = None
    partitions: Mapping[Values, StatisticsSet] = field(default_factory=dict)


def may_bring(request: Request) -> bool:
    """Whether a call of BRINGING may contain statistics, judged by the bytes that begin the field."""
    return _MARKS[request.head.name] in request.message


def brought_by(name: str, arguments: Arguments) -> Brought | None:
    """The statistics that a call of BRINGING brings; None if there are none, or the call will be refused.

    Raises InvalidInput.
    """
    try:
        found = _FINDERS[name](arguments)
    except (AttributeError, TypeError, IndexError):
        return None
    return found if found.own or found.partitions else None


class BroughtWriter:
    """Keeps statistics of objects that the upstream has just created. Thread-safe."""

    def __init__(self, mirroring: Mirroring, writer: StatisticsWriter) -> None:
        self._mirroring = mirroring
        self._writer = writer

    def keep(self, calls: UpstreamCalls, brought: Brought, author: str) -> bool:
        """Keep the statistics, or leave them to the upstream. Returns whether any are kept that the upstream may lack.

        `author` is the sender. Raises UpstreamUnavailable and UpstreamClosed.
        """
        name = brought.table
        if not self._mirroring.sync(calls, StatisticsScope(name, own=True, columns=(), mode=AccessMode.WRITE)):
            return False
        mirror = self._mirroring.tables.find(name)
        if mirror is None or mirror.id is None:
            return False
        keys = [each.name for each in mirror.partition_keys]
        sets = [] if brought.own is None else [replace(brought.own, partition=None)]
        sets += [replace(each, partition=partition_name(keys, values)) for values, each in brought.partitions.items()]
        kept = False
        for engine in sorted({each.engine for each in sets}):
            of_engine = [each for each in sets if each.engine == engine]
            kept |= self._keep(calls, brought, engine, of_engine, author)
        return kept

    def _keep(
        self, calls: UpstreamCalls, brought: Brought, engine: str, sets: Sequence[StatisticsSet], author: str
    ) -> bool:
        name, own = brought.table, brought.own is not None
        names = tuple(each.partition for each in sets if each.partition is not None)
        columns = tuple(sorted({column.column for each in sets for column in each.columns}))
        scope = StatisticsScope(name, own, names, columns, engine, AccessMode.WRITE)
        if not self._mirroring.sync(calls, scope):
            return False
        told = self._mirroring.tables.statistics(name, None if own else names, columns, engine)
        given = [_agreed_columns(calls, each, told.get(each.partition or "")) for each in sets]
        given = [each for each in given if each.columns]
        if not given:
            return False
        try:
            if own:
                self._writer.update_table(name, given[0], WriteOptions(author=author))
            else:
                self._writer.update_partitions(name, given, WriteOptions(author=author))
        except MetastoreError as error:
            _log.warning("not_kept", object=str(name), reason=str(error))
            return False
        return True


def _agreed_columns(calls: UpstreamCalls, given: StatisticsSet, told: StatisticsSet | None) -> StatisticsSet:
    """The statistics of columns for which the upstream has equal ones, or none."""
    says = {each.column: each for each in told.columns} if told else {}
    columns = (
        each
        for each in given.columns
        if each.column not in says or say_the_same(says[each.column], calls.generation.answer_to(each))
    )
    return replace(given, columns=tuple(columns))


def _of_table(struct: Any) -> Brought:
    name = table_name(struct.dbName, struct.tableName, struct.catName)
    return Brought(name, None if struct.colStats is None else set_from_thrift(struct.colStats)[1])


def _of_partitions(name: TableName, structs: Sequence[Any]) -> Brought:
    given = {tuple(each.values): set_from_thrift(each.colStats)[1] for each in structs if each.colStats is not None}
    return Brought(name, None, given)


def _of_new_partitions(structs: Sequence[Any]) -> Brought:
    return _of_partitions(table_name(structs[0].dbName, structs[0].tableName, structs[0].catName), structs)


def _of_partitions_request(arguments: Arguments) -> Brought:
    request = arguments["request"]
    name = table_name(request.dbName, request.tblName, request.catName)
    return _of_partitions(name, request.parts)


_OF_TABLE, _OF_PARTITION = b"\x0c\x00\x15", b"\x0c\x00\x0c"
"""The bytes that begin the field of statistics in a Table and in a Partition; other bytes may look the same."""
_Find = Callable[[Arguments], Brought]
_FINDERS: Mapping[str, _Find] = {
    "create_table": lambda arguments: _of_table(arguments["tbl"]),
    "create_table_with_environment_context": lambda arguments: _of_table(arguments["tbl"]),
    "create_table_with_constraints": lambda arguments: _of_table(arguments["tbl"]),
    "create_table_req": lambda arguments: _of_table(arguments["request"].table),
    "add_partition": lambda arguments: _of_new_partitions([arguments["new_part"]]),
    "add_partition_with_environment_context": lambda arguments: _of_new_partitions([arguments["new_part"]]),
    "add_partitions": lambda arguments: _of_new_partitions(arguments["new_parts"]),
    "add_partitions_pspec": lambda arguments: _of_new_partitions(partitions_from_specs(arguments["new_parts"])),
    "add_partitions_req": _of_partitions_request,
}
_MARKS: Mapping[str, bytes] = {
    name: _OF_TABLE if name.startswith("create_table") else _OF_PARTITION for name in _FINDERS
}
BRINGING = frozenset(_FINDERS)
"""Calls that create tables or partitions and may bring statistics for them."""
