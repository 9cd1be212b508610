"""A worker process: serves clients on its own socket of the server's port."""

import gc
import signal
import socket
import sys
from collections.abc import Sequence

from hmstats import tracing
from hmstats.cli.serving import logs
from hmstats.cli.serving.places import places_of
from hmstats.cli.serving.roots import warehouse_of
from hmstats.cli.serving.rules import rules_of
from hmstats.cli.serving.security.access import access_of, audit_of
from hmstats.cli.serving.security.authentication import authentication_of
from hmstats.cli.serving.security.tls import tls_of
from hmstats.cli.serving.serve_settings import hive_logs, load_served
from hmstats.cli.serving.upstream import relay_of
from hmstats.errors import HmstatsError, StoreUnavailable
from hmstats.server.assembly import Security, build
from hmstats.server.limits import Limits
from hmstats.server.processes.lifeline import Lifeline
from hmstats.server.processes.worker_process import HOPELESS
from hmstats.server.sockets.listener import Listener
from hmstats.server.sockets.neighbours import Neighbours
from hmstats.settings import Settings
from hmstats.store.database.store import Store
from hmstats.store.opening import open_store

_TRY_AGAIN = 3
"""The exit status of a worker whose database is unavailable: its parent starts another."""
_CLAIM_SECONDS = 15.0
"""How long to wait for exclusive use: the database may notice late that the previous worker was killed."""
_SWITCH_SECONDS = 0.001
"""How long a computing thread may hold the GIL. Python's default of 5 ms adds up, since an answer takes several
turns."""

_COLLECTED_AFTER = 700, 10, 1_000_000_000
"""After how many objects, and younger collections, each generation is collected. The oldest never is by itself: that
holds the GIL for a second while a call has a million objects. A chore collects it (server/garbage_collection.py)."""


def work(number: int, filenos: Sequence[int], *, alone: bool) -> int:
    """Serve until told to stop, or until the parent is gone; returns the exit code.

    `filenos`: the file descriptors of the listening socket, of the lifeline, and those of its neighbours. `alone`:
    whether with exclusive use of the database.
    """
    listening, lifeline, *neighbours = filenos
    listener = Listener(socket.socket(fileno=listening), Neighbours(number, tuple(neighbours)))
    try:
        _serve(number, listener, Lifeline(lifeline), load_served({"exclusive": alone}))
    except StoreUnavailable as error:
        print(f"hmstats: worker {number}: {error}", file=sys.stderr)
        return _TRY_AGAIN
    except HmstatsError as error:
        print(f"hmstats: worker {number}: {error}", file=sys.stderr)
        return HOPELESS
    return 0


def _serve(number: int, listener: Listener, lifeline: Lifeline, settings: Settings) -> None:
    logs.configure(settings.log_level, worker=number)
    tracing.start("hmstats serve")
    store = _open_store(settings)
    if settings.exclusive:
        store.claim_exclusively(_CLAIM_SECONDS)
    security = Security(
        tls_of(settings), authentication_of(settings, store), access_of(settings), audit_of(settings, store, number)
    )
    relay = places_of(settings, store) or relay_of(settings, store)
    server = build(store, warehouse_of(settings), listener, _limits(settings), rules_of(settings), security, relay)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the parent tells when to end
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: server.drain(settings.drain_seconds))
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.collect()
    gc.set_threshold(*_COLLECTED_AFTER)
    gc.freeze()  # exclude the objects of the whole process from garbage collections during calls
    server.start()
    lifeline.ready()
    lifeline.follow(server.drain, settings.drain_seconds)
    server.wait()
    if security.audit is not None and security.audit.table is not None:
        security.audit.table.close()
    store.close()


def _open_store(settings: Settings) -> Store:
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
        max_message_containers=settings.max_message_containers,
        max_connections=settings.max_connections,
        threads=settings.threads,
        max_waiting_calls=settings.max_waiting_calls,
        max_waiting_bytes=settings.max_waiting_bytes,
        receive_seconds=settings.receive_seconds,
        send_seconds=settings.send_seconds,
        send_bytes=settings.send_bytes,
        max_partial_bytes=settings.max_partial_bytes,
        max_unsent_bytes=settings.max_unsent_bytes,
        handshake_seconds=settings.handshake_seconds,
        max_handshakes=settings.max_handshakes,
        idle_seconds=settings.idle_seconds,
        call_seconds=settings.call_seconds,
        relay_seconds=settings.upstream_seconds + settings.upstream_connect_seconds,
        busy_poll_seconds=settings.busy_poll_seconds,
        answers_bytes=settings.answers_bytes,
        objects_bytes=settings.objects_bytes,
    )
