"""Databases, and tables by pages in the order of database and name.

A page of tables without a search reads the names of as many databases as it needs, then the tables of one page. A
search is one call for the names that match.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from hmstats.client import Metastore
from hmstats.client.tables.listing import ListedTable
from hmstats.model.catalog.objects import TableName
from hmstats.web.answers.tables import Databases, TableLine, TableList
from hmstats.web.reading.counts import counts_of
from hmstats.web.reading.cursors import cursor, parts_of
from hmstats.web.reading.existing import shown_name

PAGE_TABLES = 50
_NOT_PLAIN = re.compile(r"[^\w*]")


def databases(service: Metastore) -> Databases:
    """The databases of the default catalog."""
    return Databases(metastore=service.address, databases=tuple(service.database_names()))


def table_list(
    service: Metastore,
    *,
    search: str = "",
    database: str | None = None,
    after: str | None = None,
    limit: int = PAGE_TABLES,
) -> TableList:
    """A page of at most `limit` tables and views whose names contain `search`, from the one after the cursor on.

    `search` with a dot is a part of `database.table`. Raises StatementError for an invalid cursor.
    """
    begin = ("", "") if after is None else tuple(parts_of(after, 2))
    found = (
        _matching(service, search.strip().lower(), database) if search.strip() else _names(service, database, begin[0])
    )
    page = list(islice((each for each in found if (each.database, each.table) > begin), limit + 1))
    lines = _lines(service, page[:limit])
    last = page[limit - 1] if len(page) > limit else None
    return TableList(tables=tuple(lines), next=cursor(last.database, last.table) if last else None)


def _names(service: Metastore, database: str | None, begin: str) -> Iterator[TableName]:
    """Every table in order, from a database on; the names of a database are read when it is reached."""
    every = service.database_names()
    for each in every if database is None else [name for name in every if name == database.lower()]:
        if each >= begin:
            yield from (TableName("hive", each, table) for table in service.table_names(each))


def _matching(service: Metastore, search: str, database: str | None) -> list[TableName]:
    """The tables whose names contain the text, in order; the metastore's patterns match more than that."""
    first, dot, rest = search.rpartition(".")
    databases = database or (f"*{_pattern(first)}" if dot else "*")
    found = service.table_types(databases, f"{_pattern(rest)}*" if dot else f"*{_pattern(rest)}*")
    names = (name for name, _ in found if search in (name.short if dot else name.table))
    chosen = (name for name in names if database is None or name.database == database.lower())
    return sorted(chosen, key=lambda name: (name.database, name.table))


def _pattern(text: str) -> str:
    """The text for a metastore's pattern of names: what may have a meaning there stands for any characters."""
    return _NOT_PLAIN.sub("*", text)


def _lines(service: Metastore, names: Sequence[TableName]) -> Iterator[TableLine]:
    """The lines of tables, read in one call for each database."""
    for database, of_database in groupby(names, key=lambda name: name.database):
        found = {each.name.table: each for each in service.tables(database, [name.table for name in of_database])}
        yield from (_line(ListedTable(found[name])) for name in sorted(found))


def _line(listed: ListedTable) -> TableLine:
    table = listed.table
    counts = counts_of(table.parameters)
    return TableLine(
        table=shown_name(table.name),
        database=table.name.database,
        name=table.name.table,
        type=table.table_type,
        partition_keys=tuple(key.name for key in table.partition_keys),
        rows=counts.rows,
        size_bytes=counts.size_bytes,
        files=counts.files,
        columns=len(listed.columns),
        accurate_columns=len(listed.accurate),
    )
