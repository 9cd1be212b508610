"""`hmstats serve`: check settings and database, then become the parent of the workers (cli/parent.py)."""

import os
import sys
from collections.abc import Mapping
from typing import Annotated, Any, NoReturn

import typer

from hmstats.cli import logs
from hmstats.cli.parent import Plan
from hmstats.cli.served import is_alone, load_served
from hmstats.errors import SettingsError
from hmstats.server.assembly import prepare
from hmstats.service.warehouse import Warehouse
from hmstats.settings import PREFIX, Settings
from hmstats.store import migrate
from hmstats.store.engine import database_url
from hmstats.store.opening import open_store


def serve(  # noqa: PLR0917 - each is a flag
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 takes a free one.")] = None,
    database: Annotated[str | None, typer.Option(help="The database's URL.", metavar="URL")] = None,
    warehouse: Annotated[str | None, typer.Option(help="Where managed tables live.", metavar="DIR")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that share the port; the cores by default.")] = None,
    http_port: Annotated[int | None, typer.Option(help="The port of health and metrics.")] = None,
    hive_site: Annotated[
        str | None, typer.Option(help="The hive-site.xml of a Hive to serve beside.", metavar="FILE")
    ] = None,
    read_only: Annotated[bool | None, typer.Option("--read-only", help="Refuse calls that change something.")] = None,
    exclusive: Annotated[
        bool | None, typer.Option(help="Have the database alone, with one worker; reads look for no changes then.")
    ] = None,
) -> None:
    """Serve the Hive Metastore's Thrift API until SIGTERM or SIGINT; running calls are finished first.

    SIGHUP replaces the worker processes one by one: they read the settings anew, and no client is refused.
    """
    flags = {
        "host": host,
        "port": port,
        "database": database,
        "warehouse": warehouse,
        "workers": workers,
        "http_port": http_port,
        "hive_site": hive_site,
        "read_only": read_only,
        "exclusive": exclusive,
    }
    settings = load_served(flags)
    workers = settings.workers or (1 if settings.exclusive else _cores())
    alone = is_alone(settings, workers)
    logs.configure(settings.log_level)
    _prepare(settings, alone=alone)
    plan = Plan(
        host=settings.host,
        port=settings.port,
        http_port=settings.http_port,
        workers=workers,
        alone=alone,
        drain_seconds=settings.drain_seconds,
        log_level=settings.log_level,
    )
    _become_parent(plan, flags | {"exclusive": alone})


def _prepare(settings: Settings, *, alone: bool) -> None:
    """Say now what would be wrong with the database. Its schema is made or upgraded only where it is embedded."""
    if database_url(settings.database).get_backend_name() == "sqlite" and not settings.read_only:
        migrate.upgrade(settings.database)
    store = open_store(
        settings.database, pool_size=1, statement_seconds=settings.statement_seconds, read_only=settings.read_only
    )
    if alone and store.shape.beside_hive:
        raise SettingsError("a server beside a Hive has no database alone: set exclusive to false")
    prepare(store, Warehouse(settings.warehouse))
    store.close()


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _become_parent(plan: Plan, flags: Mapping[str, Any]) -> NoReturn:
    """Go on as the parent, in the same process without the libraries of the command line, which are most of it.

    Workers read the settings themselves, so the flags go into the environment.
    """
    given = {PREFIX + name.upper(): str(value) for name, value in flags.items() if value is not None}
    command = [sys.executable, "-P", "-m", "hmstats.cli.parent", plan.to_text()]
    os.execve(sys.executable, command, {**os.environ, **given})
