"""`hmstats serve`: check settings and database, then become the parent of the workers (cli/serving/parent.py)."""

import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from hmstats.cli.serving import logs
from hmstats.cli.serving.access import access_of, warn_of_strangers
from hmstats.cli.serving.authentication import authentication_of
from hmstats.cli.serving.parent import Plan
from hmstats.cli.serving.roots import warehouse_of, warn_of_roots
from hmstats.cli.serving.serve_settings import is_alone, load_served
from hmstats.cli.serving.tls import tls_of
from hmstats.errors import SettingsError
from hmstats.server.assembly import prepare
from hmstats.settings import PREFIX, Settings
from hmstats.store.database.store import database_url
from hmstats.store.migration import migrate
from hmstats.store.opening import open_store


def become_server(flags: Mapping[str, Any]) -> NoReturn:
    """Check settings and database, then become the parent of the workers. A flag that is None was not given."""
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
    _become_parent(plan, {**flags, "exclusive": alone})


def _prepare(settings: Settings, *, alone: bool) -> None:
    """Raise now any error about the database. Only the schema of an embedded one is created or upgraded."""
    if database_url(settings.database).get_backend_name() == "sqlite" and not settings.read_only:
        migrate.upgrade(settings.database)
    store = open_store(
        settings.database, pool_size=1, statement_seconds=settings.statement_seconds, read_only=settings.read_only
    )
    if alone and store.shape.beside_hive:
        raise SettingsError("a server beside a Hive cannot have exclusive use of the database: set exclusive to false")
    warn_of_roots(settings)
    tls_of(settings)
    access_of(settings)
    warn_of_strangers(settings)
    authentication_of(settings, store)
    prepare(store, warehouse_of(settings))
    store.close()


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _become_parent(plan: Plan, flags: Mapping[str, Any]) -> NoReturn:
    """Replace this process by the parent, which frees the memory of the command line's libraries.

    Workers read the settings themselves, so the flags are passed in the environment.
    """
    given = {PREFIX + name.upper(): str(value) for name, value in flags.items() if value is not None}
    command = [sys.executable, "-P", "-m", "hmstats.cli.serving.parent", plan.to_text()]
    os.execve(sys.executable, command, {**os.environ, **given})
