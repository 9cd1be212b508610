"""Finds out what a command of a session wrote, from Spark's own plan, which is read in the JVM."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hmstats.client.naming import table_of
from hmstats.model.catalog.location import Location, parse
from hmstats.model.catalog.objects import TableName

_WRITING = "DataWritingCommandExec"
_RUN = "ExecutedCommandExec"
_INTO_FILES = "InsertIntoHadoopFsRelationCommand"
_INTO_HIVE = "InsertIntoHiveTable"
_COUNTS = ("numFiles", "numOutputRows", "numOutputBytes")
_CREATING = {"CreateDataSourceTableAsSelectCommand": "table", "CreateHiveTableAsSelectCommand": "tableDesc"}
"""Commands that create a table from the rows of a query, with the field that describes the table."""


@dataclass(frozen=True, slots=True)
class Write:
    """A finished write of files below a directory, with Spark's own numbers.

    `table` is None for a new table, whose name another command tells. Times are epoch nanoseconds; `ended_ns` is when
    Spark reported the write. `files`, `rows` and `size_bytes` are those of the write alone.
    """

    table: TableName | None
    place: Location | None
    files: int
    rows: int
    size_bytes: int
    began_ns: int
    ended_ns: int
    partition: dict[str, str] = field(default_factory=dict)
    """The values of partition keys that are given in the statement itself."""
    failed: bool = False
    """Whether it ended with an error. Another write to the same directory may still have moved its files."""


@dataclass(frozen=True, slots=True)
class Creation:
    """A command that has created a table from the rows of a query, which another command had written."""

    table: TableName


def command_of(plan: Any, began_ns: int, ended_ns: int) -> Write | Creation | None:
    """The write or creation in an executed plan; None if it changed no files of a table."""
    kind = plan.getClass().getSimpleName()
    if kind not in (_WRITING, _RUN):
        return None
    command = plan.cmd()
    name = command.getClass().getSimpleName()
    if kind == _RUN:
        return Creation(_table(getattr(command, _CREATING[name])())) if name in _CREATING else None
    files, rows, size = (int(plan.metrics().apply(each).value()) for each in _COUNTS)
    counts = (files, rows, size, began_ns, ended_ns)
    if name == _INTO_HIVE:
        return Write(_table(command.table()), None, *counts, _hive_partition(command.partition()))
    if name != _INTO_FILES:
        return None
    known = command.catalogTable()
    table = _table(known.get()) if known.isDefined() else None
    return Write(table, parse(command.outputPath().toString()), *counts, _strings(command.staticPartitions()))


def _table(described: Any) -> TableName:
    identifier = described.identifier()
    parts = [identifier.catalog(), identifier.database()]
    return table_of([*(each.get() for each in parts if each.isDefined()), identifier.table()])


def _pairs(values: Any) -> Iterator[tuple[str, Any]]:
    """The entries of a Scala map, with keys in lower case."""
    pairs = values.iterator()
    while pairs.hasNext():
        pair = pairs.next()
        yield str(pair._1()).lower(), pair._2()  # noqa: SLF001 - a pair of Scala's


def _strings(values: Any) -> dict[str, str]:
    return {key: str(value) for key, value in _pairs(values)}


def _hive_partition(values: Any) -> dict[str, str]:
    """The partition values that are known before the write."""
    return {key: str(value.get()) for key, value in _pairs(values) if value.isDefined()}
