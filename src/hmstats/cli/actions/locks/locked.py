"""The work of `hmstats locked`: read the locks, and print a row for each."""

import json
from datetime import UTC, datetime
from typing import Any

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.output.cell_texts import age, count_text
from hmstats.cli.output.tables import plain_table, print_table
from hmstats.client.tables.existing import list_named, named_or_all
from hmstats.model.statistics.statistics_locks import LockedObject, StatisticsLock


def list_locks(*, tables: list[str] | None, metastore: str | None, as_json: bool) -> None:
    """Print the locks of the tables and databases that match.

    Raises StatementError for a malformed name, and for one of nothing.
    """
    with open_metastore(metastore) as service:
        pages = [list_named(service, each, service.locks.listed) for each in named_or_all(service, tables)]
    found = list(dict.fromkeys(each for page in pages for each in page))
    if as_json:
        for each in found:
            typer.echo(json.dumps(lock_fields(each), ensure_ascii=False))
        return
    if not found:
        typer.echo("nothing is locked")
        return
    shown = plain_table(["Locked", "Writes are", "By", "Reason"], ["Age", "Dropped"])
    for each in found:
        of, how = str(each.object), "refused" if each.refuse else "dropped"
        numbers = (age(each.locked_at_seconds), count_text(each.dropped))
        shown.add_row(of, how, each.locked_by or "", each.reason or "", *numbers)
    print_table(shown)


def object_fields(of: LockedObject) -> dict[str, Any]:
    """The locked object, as fields of a JSON object."""
    return {
        "catalog": of.database.catalog,
        "database": of.database.database,
        "table": of.table,
        "partition": of.partition,
        "columns": list(of.columns) or None,
    }


def lock_fields(lock: StatisticsLock) -> dict[str, Any]:
    """A lock, as fields of a JSON object."""
    return {
        **object_fields(lock.object),
        "refuse": lock.refuse,
        "reason": lock.reason,
        "locked_by": lock.locked_by,
        "locked_at": datetime.fromtimestamp(lock.locked_at_seconds, UTC).isoformat(),
        "dropped": lock.dropped,
    }
