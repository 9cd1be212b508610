"""The work of `hmstats lock` and `hmstats unlock`."""

import json
from collections.abc import Sequence
from dataclasses import replace

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.actions.locks.locked import lock_fields, object_fields
from hmstats.cli.options import split_columns
from hmstats.cli.output.plain_texts import plain_text
from hmstats.client import Metastore
from hmstats.client.asked.partition_names import existing_names
from hmstats.client.naming import named_scope
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.statistics_locks import LockedObject, StatisticsLock


def lock_statistics(
    text: str,
    *,
    partitions: Sequence[str] | None,
    columns: str | None,
    refuse: bool | None,
    reason: str | None,
    metastore: str | None,
    as_json: bool,
) -> None:
    """Lock statistics, and print of what, and which locks are replaced. Raises StatementError for a malformed name."""
    named = _object(text, columns)
    with open_metastore(metastore) as service:
        for of in _parts(service, named, partitions):
            replaced = _locks_of(service, of)
            service.locks.lock(of, refuse=refuse, reason=reason)
            _print(of, locked=True, replaced=replaced, as_json=as_json)


def unlock_statistics(
    text: str,
    *,
    partitions: Sequence[str] | None,
    columns: str | None,
    metastore: str | None,
    as_json: bool,
) -> None:
    """Unlock statistics, and print of what. Raises StatementError for a malformed name, and if nothing was locked."""
    named = _object(text, columns)
    with open_metastore(metastore) as service:
        for of in _parts(service, named, partitions):
            if not service.locks.unlock(of):
                raise StatementError(f"{of} has no lock of its own: hmstats locked lists all locks")
            _print(of, locked=False, as_json=as_json)


def _locks_of(service: Metastore, of: LockedObject) -> list[StatisticsLock]:
    """The locks of exactly this object, of which each column has one of its own."""
    places = [replace(of, columns=(each,)) for each in of.columns] or [of]
    listed = service.locks.listed(of.database.database, of.table, of.database.catalog)
    return [each for each in listed if each.object in places]


def _print(of: LockedObject, *, locked: bool, replaced: Sequence[StatisticsLock] = (), as_json: bool) -> None:
    if as_json:
        more = {"replaced": [lock_fields(each) for each in replaced]} if locked else {}
        typer.echo(json.dumps({**object_fields(of), "locked": locked, **more}, ensure_ascii=False))
        return
    typer.echo(f"statistics of {of} are {'locked' if locked else 'unlocked'}")
    for each in replaced:
        by, reason = each.locked_by or "unknown", f", whose reason was: {each.reason}" if each.reason else ""
        typer.echo(plain_text(f"this replaces the lock of {each.object} by {by}{reason}"))


def _parts(service: Metastore, named: LockedObject, partitions: Sequence[str] | None) -> list[LockedObject]:
    """The named object, or each of these partitions of it. Raises StatementError for a missing table or partition."""
    if not partitions:
        return [named]
    if named.table is None:
        raise StatementError(f"a partition or columns are of a table, found {named} alone")
    table = service.existing_table(TableName(named.database.catalog, named.database.database, named.table))
    return [replace(named, partition=each) for each in existing_names(service, table, partitions)]


def _object(text: str, columns: str | None) -> LockedObject:
    """The object that the arguments name. Raises StatementError."""
    names = split_columns(columns) or []
    database, table = named_scope(text)
    if table is None and names:
        raise StatementError(f"a partition or columns are of a table, found database {text} alone")
    return LockedObject(database, table, None, tuple(dict.fromkeys(each.lower() for each in names)))
