"""`python -m hmstats.cli.worker NUMBER LISTENING LIFELINE NEIGHBOURS...`: a process that a server's parent starts.

All but NUMBER are file descriptors that it inherits: its sockets, and what makes it know the other workers.
"""

import gc
import signal
import socket
import sys

from hmstats.cli import logs
from hmstats.cli.served import hive_logs, load_served
from hmstats.errors import HmstatsError
from hmstats.server.assembly import Rules, build
from hmstats.server.lifeline import Lifeline
from hmstats.server.limits import Limits
from hmstats.server.listener import Listener
from hmstats.server.neighbours import Neighbours
from hmstats.service.warehouse import Warehouse
from hmstats.settings import Settings
from hmstats.store.engine import Store
from hmstats.store.opening import open_store

USAGE_ERROR = 2
_CLAIM_SECONDS = 15.0
"""The database may notice only after a while that the worker before was killed."""


def main() -> int:
    """Serve until told to stop, or until the parent is gone; the exit code."""
    number, listening, lifeline, *neighbours = map(int, sys.argv[1:])
    listener = Listener(socket.socket(fileno=listening), Neighbours(number, tuple(neighbours)))
    try:
        _serve(number, listener, Lifeline(lifeline))
    except HmstatsError as error:
        print(f"hmstats: worker {number}: {error}", file=sys.stderr)
        return USAGE_ERROR
    return 0


def _serve(number: int, listener: Listener, lifeline: Lifeline) -> None:
    settings = load_served()
    logs.configure(settings.log_level, worker=number)
    store = _open(settings)
    if settings.exclusive:
        store.take_alone(_CLAIM_SECONDS)
    server = build(store, Warehouse(settings.warehouse), listener, _limits(settings), _rules(settings))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt on a terminal reaches all; the parent says what to do
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: server.drain(settings.drain_seconds))
    gc.collect()
    gc.freeze()  # what lives as long as the process is not looked through after every thousand objects of a call
    server.start()
    lifeline.ready()
    lifeline.follow(server.drain, settings.drain_seconds)
    server.wait()
    store.close()


def _open(settings: Settings) -> Store:
    return open_store(
        settings.database,
        pool_size=settings.threads,
        statement_seconds=settings.statement_seconds,
        read_only=settings.read_only,
        hive_logs=hive_logs(settings),
    )


def _limits(settings: Settings) -> Limits:
    return Limits(
        max_message_bytes=settings.max_message_bytes,
        max_connections=settings.max_connections,
        threads=settings.threads,
        max_waiting_calls=settings.max_waiting_calls,
        receive_seconds=settings.receive_seconds,
        send_seconds=settings.send_seconds,
        idle_seconds=settings.idle_seconds,
        call_seconds=settings.call_seconds,
        busy_poll_seconds=settings.busy_poll_seconds,
        answers_bytes=settings.answers_bytes,
        objects_bytes=settings.objects_bytes,
    )


def _rules(settings: Settings) -> Rules:
    return Rules(
        keep_accuracy=settings.keep_accuracy,
        any_engine=settings.any_engine,
        send_sketches=settings.send_sketches,
        statistics_from_partitions=settings.statistics_from_partitions,
        spark_statistics=settings.spark_statistics,
        spark_names=tuple(name.strip() for name in settings.spark_names.split(",") if name.strip()),
        ndv_density_function=settings.ndv_density_function,
        ndv_tuner=settings.ndv_tuner,
        notifications=settings.notifications,
        notification_retention_hours=settings.notification_retention_hours,
        lock_timeout_seconds=settings.lock_timeout_seconds,
        most_partitions_listed=settings.most_partitions_listed,
        running_write_retention_hours=settings.running_write_retention_hours,
    )


if __name__ == "__main__":
    sys.exit(main())
