"""Tables and partitions by health, the worst first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import TableName
from hmstats.model.health.health import WHOLE
from hmstats.model.health.pages import HealthPage, ObjectHealth
from hmstats.service.catalog.patterns import matching
from hmstats.service.health.keeper import HealthKeeper
from hmstats.service.statistics.existing_tables import find_facts
from hmstats.store.catalog import databases
from hmstats.store.database.store import Store
from hmstats.store.health import listing
from hmstats.store.health.listing import Key, Listed

MOST = 1_000
"""Most entries of a page."""
ALL = WHOLE + 1
_WILDCARDS = frozenset("*.")


@dataclass(frozen=True, slots=True)
class ListSelection:
    """A selection of a list's entries: those with a health `below` that, `most` of them `after` a cursor."""

    below: int | None = None
    most: int | None = None
    after: str | None = None


class HealthListing:
    """Lists of stored health. Each question first waits until health reflects what was written before it."""

    def __init__(self, store: Store, keeper: HealthKeeper) -> None:
        self._store = store
        self._keeper = keeper

    def tables(
        self, catalog: str, of_databases: str | None, tables: str | None, selection: ListSelection
    ) -> HealthPage:
        """The tables that match patterns (None: all). Raises InvalidInput for a cursor that no page gave."""
        complete = self._keeper.catch_up()
        with self._store.read() as connection:
            names = None if _is_all(of_databases) else matching(databases.names(connection, catalog), of_databases)
            exact = tables.lower().split("|") if tables and _WILDCARDS.isdisjoint(tables) else None
            pattern = None if exact is not None or _is_all(tables) else tables

            def read(after: Key | None, most: int) -> list[Listed]:
                return listing.tables(connection, catalog, names, exact, _below(selection), after, most)

            found, next_page = _page(read, selection, pattern)
        entries = [ObjectHealth(TableName(catalog, *each.names), None, each.health) for each in found]
        return HealthPage(tuple(entries), next_page, complete)

    def partitions(self, name: TableName, selection: ListSelection) -> HealthPage:
        """The partitions of a table. Raises NoSuchObject if it does not exist, InvalidInput as `tables`."""
        complete = self._keeper.catch_up()
        with self._store.read() as connection:
            table_id = find_facts(connection, name).id

            def read(after: Key | None, most: int) -> list[Listed]:
                return listing.partitions(connection, table_id, _below(selection), after, most)

            found, next_page = _page(read, selection, None)
        entries = [ObjectHealth(name, each.names[0], each.health) for each in found]
        return HealthPage(tuple(entries), next_page, complete)


def _page(
    read: Callable[[Key | None, int], Sequence[Listed]], selection: ListSelection, pattern: str | None
) -> tuple[list[Listed], str | None]:
    """The entries of a page, of tables whose name matches the pattern, and the cursor of the next; None at the end."""
    most = MOST if selection.most is None else selection.most
    if not 0 < most <= MOST:
        raise InvalidInput(f"a page of health has 1 to {MOST:,} entries, found {most:,}")
    at_once = most if pattern is None else MOST
    after, found = _key(selection.after), list[Listed]()
    while True:
        rows = read(after, at_once)
        for each in rows:
            if pattern is None or matching([each.names[-1]], pattern):
                found.append(each)
            if len(found) == most:
                return found, f"{each.key.health}.{each.key.id}"
        if len(rows) < at_once:
            return found, None
        after = rows[-1].key


def _key(cursor: str | None) -> Key | None:
    if not cursor:
        return None
    health, _, own = cursor.partition(".")
    if not (health.isascii() and health.isdecimal() and own.isascii() and own.isdecimal() and len(cursor) < 24):
        raise InvalidInput(f"a page of health begins after the text `nextPage` of the page before, found {cursor[:64]}")
    return Key(int(health), int(own))


def _below(selection: ListSelection) -> int:
    return ALL if selection.below is None else selection.below


def _is_all(pattern: str | None) -> bool:
    return not pattern or pattern in ("*", ".*")
