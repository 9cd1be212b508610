"""The tables whose statistics may have changed since a cursor, by the log of changes; all when the log has a hole."""

from hmstats.client import Metastore
from hmstats.client.tables.existing import every_database, tables_in
from hmstats.feeds.cursors import Cursor
from hmstats.web.reading.existing import shown_name

_GONE = frozenset({"DROP_TABLE", "DROP_DATABASE"})


def changed_tables(service: Metastore, cursor: Cursor) -> tuple[list[str], int]:
    """The names of the tables, and the number of the last change that is looked at.

    Raises CallRefused when the metastore keeps no log.
    """
    last = service.events.last()
    if cursor.event is None or cursor.event > last:
        return _all(service), last
    named: dict[str, None] = dict.fromkeys(cursor.owed)
    expected = cursor.event + 1
    for event in service.events.since(cursor.event):
        if event.number != expected:
            return _all(service), max(last, event.number)  # the log no longer has all changes since then
        expected = event.number + 1
        if event.table is not None:
            name = shown_name(event.table)
            named.pop(name, None)
            if event.kind not in _GONE:
                named[name] = None
    return list(named), expected - 1


def _all(service: Metastore) -> list[str]:
    return [shown_name(name) for each in every_database(service) for name in tables_in(service, each)]
