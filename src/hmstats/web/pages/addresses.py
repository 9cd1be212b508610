"""Links between pages: paths whose parts may hold any character, and the selection that goes along."""

from urllib.parse import parse_qsl, quote, urlencode

from hmstats.model.catalog.objects import DEFAULT_CATALOG, TableName
from hmstats.web.answers.locks import Lock
from hmstats.web.api.operations import PREFIX
from hmstats.web.api.path_names import path_column
from hmstats.web.reading.existing import shown_name
from hmstats.web.reading.selections import Selection


def table_address(table: str, selection: Selection | None = None, **more: str | None) -> str:
    """The page of a table."""
    return f"/tables/{quote(table, safe='')}{_query(selection, more)}"


def part_address(table: str, part: str, **more: str | None) -> str:
    """A page about a table: its history, diff, restore or lock."""
    return f"/tables/{quote(table, safe='')}/{part}{_query(None, more)}"


def lock_address(of: Lock) -> str:
    """The page of the locks of the table that a lock is about."""
    return part_address(shown_name(TableName(of.catalog or DEFAULT_CATALOG, of.database, of.table or "")), "lock")


def column_address(table: str, column: str, selection: Selection | None = None) -> str:
    """The page of a column."""
    return f"/tables/{quote(table, safe='')}/columns/{quote(path_column(column), safe='')}{_query(selection, {})}"


def partitions_address(table: str, selection: Selection | None = None, **more: str | None) -> str:
    """The page of a table's partitions."""
    return f"/tables/{quote(table, safe='')}/partitions{_query(selection, more)}"


def range_address(table: str, first: str, last: str, of: Selection) -> str:
    """The page of partitions from one name to another, among those that are selected already."""
    return partitions_address(table, Selection(first, last, of.where, of.as_of))


def now_address(path: str, query: str) -> str:
    """A page's address without its time: with the current numbers."""
    rest = [(name, value) for name, value in parse_qsl(query) if name != "as_of"]
    return path + (f"?{urlencode(rest)}" if rest else "")


def tables_address(search: str | None = None, after: str | None = None) -> str:
    """The list of tables."""
    return f"/tables{_query(None, {'q': search, 'after': after})}"


def json_address(path: str, query: str) -> str:
    """The address of a page's JSON."""
    return PREFIX + path + (f"?{query}" if query else "")


def _query(selection: Selection | None, more: dict[str, str | None]) -> str:
    of = selection or Selection()
    values = {"from": of.first, "to": of.last, "where": of.where, "as_of": of.as_of, **more}
    given = {name: value for name, value in values.items() if value}
    return f"?{urlencode(given)}" if given else ""
