"""The work of `hmstats lock` and `hmstats unlock`."""

import typer

from hmstats.client import connect
from hmstats.client.naming import named_object
from hmstats.errors import StatementError
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.settings import load


def lock_statistics(
    text: str,
    *,
    partition: str | None,
    columns: str | None,
    refuse: bool | None,
    reason: str | None,
    metastore: str | None,
) -> None:
    """Lock statistics, and print of what. Raises StatementError for a malformed name."""
    of = _object(text, partition, columns)
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        service.locks.lock(of, refuse=refuse, reason=reason)
    typer.echo(f"statistics of {of} are locked")


def unlock_statistics(text: str, *, partition: str | None, columns: str | None, metastore: str | None) -> None:
    """Unlock statistics, and print of what. Raises StatementError for a malformed name, and if nothing was locked."""
    of = _object(text, partition, columns)
    settings = load({"metastore": metastore})
    with connect(settings.metastore, timeout_seconds=settings.client_seconds) as service:
        removed = service.locks.unlock(of)
    if not removed:
        raise StatementError(f"there is no lock of {of} itself: hmstats locked lists all locks")
    typer.echo(f"statistics of {of} are unlocked")


def _object(text: str, partition: str | None, columns: str | None) -> LockedObject:
    """What is named. Raises StatementError."""
    names = [] if columns is None else [each.strip() for each in columns.split(",")]
    if not all(names):
        raise StatementError(f"--columns takes names separated by commas, found {columns!r}")
    database, table = named_object(text)
    if table is None and (partition is not None or names):
        raise StatementError(f"a partition or columns are of a table, found database {text} alone")
    return LockedObject(database, table, partition, tuple(dict.fromkeys(each.lower() for each in names)))
