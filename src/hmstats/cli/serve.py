"""`hmstats serve`: start the server and keep it running until a signal ends it."""

import gc
import signal
from typing import Annotated

import typer

from hmstats.cli import logs
from hmstats.server.assembly import Rules, build
from hmstats.server.limits import Limits
from hmstats.service.warehouse import Warehouse
from hmstats.settings import Settings, load
from hmstats.store import migrate
from hmstats.store.engine import Store, database_url


def serve(
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 takes a free one.")] = None,
    database: Annotated[str | None, typer.Option(help="The database's URL.", metavar="URL")] = None,
    warehouse: Annotated[str | None, typer.Option(help="Where managed tables live.", metavar="DIR")] = None,
) -> None:
    """Serve the Hive Metastore's Thrift API until SIGTERM or SIGINT; running calls are finished first."""
    settings = load({"host": host, "port": port, "database": database, "warehouse": warehouse})
    logs.configure(settings.log_level)
    store = _open(settings)
    address = (settings.host, settings.port)
    server = build(store, Warehouse(settings.warehouse), address, _limits(settings), _rules(settings))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.drain(settings.drain_seconds))
    gc.collect()
    gc.freeze()  # what lives as long as the process is not looked through after every thousand objects of a call
    bound_host, bound_port = server.start()
    typer.echo(f"listening on {bound_host}:{bound_port}")
    server.wait()
    store.close()


def _open(settings: Settings) -> Store:
    """The database, whose schema is made or upgraded only where it is embedded."""
    if database_url(settings.database).get_backend_name() == "sqlite":
        migrate.upgrade(settings.database)
    store = Store.open(settings.database, pool_size=settings.workers, statement_seconds=settings.statement_seconds)
    migrate.require_current(store)
    return store


def _limits(settings: Settings) -> Limits:
    return Limits(
        max_message_bytes=settings.max_message_bytes,
        max_connections=settings.max_connections,
        workers=settings.workers,
        max_waiting_calls=settings.max_waiting_calls,
        receive_seconds=settings.receive_seconds,
        send_seconds=settings.send_seconds,
        idle_seconds=settings.idle_seconds,
        call_seconds=settings.call_seconds,
        answers_bytes=settings.answers_bytes,
    )


def _rules(settings: Settings) -> Rules:
    return Rules(
        keep_accuracy=settings.keep_accuracy,
        any_engine=settings.any_engine,
        send_sketches=settings.send_sketches,
        statistics_from_partitions=settings.statistics_from_partitions,
        ndv_density_function=settings.ndv_density_function,
        ndv_tuner=settings.ndv_tuner,
        notifications=settings.notifications,
        notification_retention_hours=settings.notification_retention_hours,
        lock_timeout_seconds=settings.lock_timeout_seconds,
        most_partitions_listed=settings.most_partitions_listed,
    )
