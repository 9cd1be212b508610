"""The sides of `hmstats compare`: a metastore as it is now, or a file with its statistics of another time."""

import re
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from hmstats.client import Metastore, connect
from hmstats.client.asked.partition_names import existing_names
from hmstats.client.naming import named_table
from hmstats.client.tables.existing import every_database, tables_in
from hmstats.client.tables.stored_statistics import (
    own_statistics,
    stored_partitions,
    stored_table,
)
from hmstats.errors import StatementError
from hmstats.model.catalog.names import partition_spec
from hmstats.model.catalog.objects import VIRTUAL_VIEW, TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.row_counts import known_rows
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.export.file import ENDINGS, read
from hmstats.outlets.export.rows import Entry
from hmstats.settings import load

Parts: TypeAlias = dict[str | None, TableStatistics]
"""The statistics of a table (None) and of its partitions, by their names."""

_FORM = "DB.TABLE, DB.TABLE/KEY=VALUE/..., or one behind thrift://HOST:PORT/ or the name of an exported file and /"
_PATH = r"(?:/(?P<partition>.+))?"
_SERVER = re.compile(rf"(?:(?P<place>thrift://[^/]+)/?)?(?P<table>[^/]*){_PATH}")
_FILE = re.compile(
    rf"(?P<place>.+?(?:{'|'.join(map(re.escape, ENDINGS))}))(?:/(?P<table>[^/]+){_PATH})?", re.IGNORECASE
)


class Source(Protocol):
    """A source of statistics: a metastore or a file."""

    def tables(self) -> set[TableName]:
        """The tables of all catalogs."""

    def parts(self, name: TableName) -> Parts:
        """The statistics of a table and its partitions, empty if the table does not exist."""


@dataclass(frozen=True, slots=True)
class Side:
    """All of a source, a table of it, or a partition of that."""

    source: Source
    table: str | None
    partition: str | None

    def target(self) -> tuple[str, TableStatistics]:
        """The title and the statistics of the table or the partition. Raises StatementError when it is not there."""
        if isinstance(self.source, ServerSource):
            return self.source.target(self.table or "", self.partition)
        parts = self.parts()
        if self.partition is None:
            return self.title, parts.get(None, TableStatistics())
        spec = partition_spec(self.partition)
        name = next((each for each in parts if each and partition_spec(each) == spec), None)
        if name is None:
            raise StatementError(f"table {self.table} has no partition {self.partition} in {self.source}")
        return f"{self.title} {name}", parts[name]

    def parts(self) -> Parts:
        """The statistics of the table and its partitions. Raises StatementError if the table does not exist."""
        found = self.source.parts(named_table(self.table or ""))
        if not found:
            raise StatementError(f"table {self.table} is not in {self.source}")
        return found

    @property
    def title(self) -> str:
        """The table's name for printed output."""
        return named_table(self.table or "").typed


class ServerSource:
    """A metastore, as it is now."""

    def __init__(self, service: Metastore) -> None:
        self._service = service

    def __str__(self) -> str:
        return f"the metastore at {self._service.address}"

    def tables(self) -> set[TableName]:
        """The tables of all catalogs, views too."""
        return {name for each in every_database(self._service) for name in tables_in(self._service, each)}

    def parts(self, name: TableName) -> Parts:
        """The statistics of a table and of its partitions; empty for a view."""
        table = self._service.find_table(name)
        if table is None or table.table_type == VIRTUAL_VIEW:
            return {}
        own = own_statistics(self._service, table)
        names = self._service.partition_names(table.name) if table.partition_keys else []
        parts = stored_partitions(self._service, table, names)
        return {each.statistics.partition: each.table_statistics() for each in (own, *parts)}

    def target(self, text: str, partition: str | None) -> tuple[str, TableStatistics]:
        """The title and statistics of a partition or a table, merged over its partitions if it has none of its own."""
        table = self._service.existing_table(text)
        found = stored_table(self._service, table)
        if partition is not None:
            names = existing_names(self._service, table, [partition])
            found = next(stored_partitions(self._service, table, names))
        return found.title, found.table_statistics()


class FileSource:
    """A file of `hmstats export`, as its metastore was then. Everything but the sketches is held in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tables: dict[TableName, Parts] = {}
        for entry in read(path):
            self._tables.setdefault(entry.name, {})[entry.statistics.partition] = _without_sketches(entry)

    def __str__(self) -> str:
        return str(self._path)

    def tables(self) -> set[TableName]:
        """The tables in the file."""
        return {*self._tables}

    def parts(self, name: TableName) -> Parts:
        """The statistics of a table and its partitions in the file."""
        return self._tables.get(name, {})


def side(text: str, metastore: str | None, connections: ExitStack) -> Side:
    """The side that a text names; `metastore` is that of a table alone. Raises StatementError, InvalidInput."""
    place = _FILE.fullmatch(text) if not text.startswith("thrift://") else None
    if place is not None:
        return Side(FileSource(Path(place["place"])), place["table"], place["partition"])
    place = _SERVER.fullmatch(text)
    if place is None or not (place["table"] or place["place"]) or (place["partition"] and not place["table"]):
        raise StatementError(f"a side must be {_FORM}, found {text!r}")
    settings = load({"metastore": place["place"] or metastore})
    service = connections.enter_context(connect(settings.metastore, timeout_seconds=settings.client_seconds))
    return Side(ServerSource(service), place["table"] or None, place["partition"])


def _without_sketches(entry: Entry) -> TableStatistics:
    columns = tuple(_numbers(column) for column in entry.statistics.columns)
    return TableStatistics(
        name=entry.name,
        statistics=replace(entry.statistics, columns=columns),
        rows=known_rows(entry.parameters),
        rows_exact=Accurate.parse(entry.parameters.get(PARAMETER)).basic,
    )


def _numbers(column: ColumnStatistics) -> ColumnStatistics:
    sketches = dict.fromkeys(name for name in ("bit_vector", "histogram") if hasattr(column.data, name))
    data: Any = column.data
    return replace(column, data=replace(data, **sketches), top_k=None)
