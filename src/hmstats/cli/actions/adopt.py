"""`hmstats adopt`: inspect the database of a Hive Metastore, and create our own tables in it if requested.

With an upstream, it takes that metastore's statistics over into the database of a gateway.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from tempfile import TemporaryDirectory

import typer
from rich.console import Console
from rich.table import Table

from hmstats.cli.serving.logs import on_standard_error
from hmstats.cli.serving.preparation import make_embedded
from hmstats.cli.serving.serve_settings import hive_logs, load_served
from hmstats.cli.serving.upstream import relay_of
from hmstats.errors import StatementError
from hmstats.outlets.people.cells import amount
from hmstats.settings import Settings
from hmstats.store.migration import migrate
from hmstats.store.migration.hive_survey import Survey, survey
from hmstats.store.opening import open_store


def adopt_database(
    *,
    database: str | None,
    hive_site: str | None,
    write: bool,
    as_json: bool,
) -> None:
    """Print the report; with `write`, create our own tables first."""
    settings = load_served({"database": database, "hive_site": hive_site})
    if write:
        migrate.adopt(settings.database, settings.own_schema)
    found = survey(settings.database, warehouse=settings.warehouse, hive_logs=hive_logs(settings))
    typer.echo(json.dumps(asdict(found), indent=2)) if as_json else _print(found)


def adopt_upstream(
    patterns: Sequence[str],
    *,
    database: str | None,
    hive_site: str | None,
    upstream: str,
    write: bool,
    as_json: bool,
) -> None:
    """Print the tables whose statistics the upstream keeps to itself; with `write`, take over those of all others.

    Raises StatementError if patterns are given and no table matches them.
    """
    with ExitStack() as stack:
        if not write:  # nothing of the gateway's database is needed, and nothing of it may change
            database = f"sqlite:///{stack.enter_context(TemporaryDirectory())}/empty.sqlite"
        settings = load_served(
            {"database": database, "hive_site": hive_site, "upstream": upstream, "upstreams": (), "own_databases": ()}
        )
        taken, left = _adopt_tables(settings, patterns, write=write)
    if patterns and not (taken or left):
        raise StatementError(f"no table of {upstream} matches {' or '.join(patterns)}")
    if as_json:
        typer.echo(json.dumps({"tables": taken, "left": left, "taken_over": write}, indent=2))
    else:
        typer.echo(_sentences(taken, left, upstream, write=write))


@on_standard_error()
def _adopt_tables(settings: Settings, patterns: Sequence[str], *, write: bool) -> tuple[int, dict[str, str]]:
    """The number of tables whose statistics a gateway keeps, and the reason for each of the others."""
    make_embedded(settings)
    store = open_store(settings.database, pool_size=2, statement_seconds=settings.statement_seconds)
    gateway = relay_of(settings, store)
    assert gateway is not None
    taken, left = 0, dict[str, str]()
    try:
        gateway.probe()
        adopting = gateway.adopting(patterns)
        for each in adopting.take_over() if write else adopting.tables():
            if each.reason is None:
                taken += 1
            else:
                left[each.table.typed] = each.reason
    finally:
        gateway.close()
        store.close()
    return taken, left


def _sentences(taken: int, left: Mapping[str, str], upstream: str, *, write: bool) -> str:
    lines = [f"{table}: left to the upstream: {reason}" for table, reason in left.items()]
    if not write:
        tables = amount(taken, "table")
        return "\n".join([*lines, f"{tables}: --write takes over the statistics; nothing was changed"])
    return "\n".join([*lines, f"the statistics of {amount(taken, 'table')} of {upstream} are here"])


def _print(found: Survey) -> None:
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"{found.database}\nHive's schema {found.hive_schema}", markup=False)
    own = f"at revision {found.own_tables}" if found.own_tables else "not there; --write makes them"
    console.print(f"our own tables: {own}\n")
    console.print(_table("Rows", {**found.rows, "transactional tables": found.transactional_tables}))
    wrong = {f"{name} with more than one row for a column": number for name, number in found.duplicates.items()}
    console.print(_table("Wrong statistics", {**wrong, **found.impossible}))
    console.print(_table("The database's user may", found.rights))
    abilities = Table("A server beside this Hive", "", "", box=None, pad_edge=False)
    for each in found.abilities:
        abilities.add_row(each.name, _yes_or_no(each.works), each.note)
    console.print(abilities)
    if found.roots:
        console.print(
            "\nDatabases and managed tables lie outside the warehouse: an open server needs, in its settings,"
        )
        console.print(f"warehouse_roots = {json.dumps(found.roots)}", markup=False)


def _table(title: str, values: Mapping[str, int]) -> Table:
    table = Table(title, "", box=None, pad_edge=False)
    for name, value in values.items():
        table.add_row(name, _yes_or_no(value) if isinstance(value, bool) else f"{value:,}")
    return table


def _yes_or_no(works: bool) -> str:  # noqa: FBT001
    return "yes" if works else "no"
