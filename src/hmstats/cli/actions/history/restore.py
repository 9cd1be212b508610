"""`hmstats restore`: the statistics of a time written again, of a table, a database, or everything."""

import json
import time
from collections.abc import Iterator

import typer

from hmstats.cli.actions.connecting import open_metastore
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.output.plain_texts import plain_sentence
from hmstats.client import Metastore
from hmstats.client.naming import named_scope
from hmstats.client.tables.existing import check_database, every_database, tables_in
from hmstats.errors import CallRefused, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.history import Restored
from hmstats.outlets.people.times import past_ms, utc_text

_DID, _WOULD = ("restored", "removed", "changed"), ("would restore", "remove", "change")


def restore_statistics(
    *, target: str | None, everything: bool, as_of: str, dry_run: bool, as_json: bool, metastore: str | None
) -> None:
    """Restore each table in a transaction of its own; of several, one that is refused is named and skipped.

    Raises StatementError unless a target or `everything` is asked for, and for a database that is missing, typer.Exit
    if a table of several was skipped.
    """
    if (target is None) != everything:
        raise StatementError("a restore is of a table, a database or --all")
    at_ms = past_ms("--as-of", as_of, time.time())
    skipped = False
    with open_metastore(metastore) as service:
        several = target is None or named_scope(target)[1] is None
        for name in _names(service, target):
            try:
                _print(service.past.restore(name, at_ms, dry_run=dry_run), dry_run=dry_run, as_json=as_json)
            except CallRefused as error:
                if not several or not error.is_of_one_object:
                    raise
                skipped = True
                typer.echo(f"{name.typed}: {plain_sentence(str(error))}", err=True)
    if skipped:
        raise typer.Exit(ExitCode.PARTLY_DONE)


def _names(service: Metastore, target: str | None) -> Iterator[TableName]:
    if target is None:
        for each in every_database(service):
            yield from tables_in(service, each)
        return
    of, table = named_scope(target)
    if table is not None:
        yield TableName(of.catalog, of.database, table)
        return
    check_database(service, of)
    yield from tables_in(service, of)


def _print(done: Restored, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        row = {"table": done.table.typed, "at": utc_text(done.at_ms), "dry_run": dry_run, "written": done.written}
        row |= {"removed": done.removed, "parameters": done.parameters, "unmarked": done.unmarked}
        typer.echo(json.dumps(row, ensure_ascii=False))
        return
    restored, removed, changed = _WOULD if dry_run else _DID
    typer.echo(
        f"{done.table.typed} as of {utc_text(done.at_ms)}: {restored} {done.written:,} column statistics, {removed} "
        f"{done.removed:,}, {changed} the parameters of {done.parameters:,}"
    )
    if done.unmarked:
        typer.echo(f"{done.unmarked:,} not marked accurate: their files have changed since then")
