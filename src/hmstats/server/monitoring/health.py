"""Health and metrics of a server over HTTP, answered by the parent process.

/health/live: the parent runs. /health/ready: a worker serves clients and the server is not being stopped; by settings,
its database and all upstreams answer too. It reports the state of each upstream. /metrics: the numbers of all workers
together, in Prometheus' format. Everything else is the page's, if it is mounted.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol
from wsgiref.simple_server import make_server
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import CollectorRegistry, Gauge, make_wsgi_app

from hmstats.errors import SettingsError
from hmstats.server.monitoring.bounded_http import BoundedServer, BoundedServer6, QuietHandler
from hmstats.server.monitoring.metrics import AllWorkers, is_database_up
from hmstats.server.monitoring.mounted_page import MountedPage
from hmstats.server.monitoring.upstream_states import UpstreamStates
from hmstats.server.sockets.port import Address, text_of

_OK, _AWAY = "200 OK", "503 Service Unavailable"
_NO_UPSTREAMS = UpstreamStates()


class Watched(Protocol):
    """The server whose health is reported."""

    @property
    def ready(self) -> int:
        """Workers that serve clients."""

    @property
    def deaths(self) -> int:
        """How many workers ended unexpectedly."""


@contextmanager
def serving_health(
    address: Address,
    watched: Watched,
    metrics_folder: str,
    page: MountedPage | None = None,
    *,
    needs_database: bool = False,
    upstreams: UpstreamStates = _NO_UPSTREAMS,
) -> Iterator[Address]:
    """Answers in threads of its own until the context ends; the host and port.

    `metrics_folder` is where the workers keep their numbers. `needs_database`: the server is ready only while its
    database answers. `upstreams` are those of a gateway.

    Raises SettingsError if the address cannot be bound.
    """
    host, port = address
    kind = BoundedServer6 if ":" in host else BoundedServer
    answering = application(watched, metrics_folder, page, needs_database=needs_database, upstreams=upstreams)
    try:
        server = make_server(host, port, answering, kind, QuietHandler)
    except OSError as error:
        raise SettingsError(f"cannot listen on {text_of(address)}: {error.strerror or error}") from error
    server.page = page
    with server:
        threading.Thread(target=server.serve_forever, name="hmstats-health", daemon=True).start()
        yield host, server.server_port
        server.shutdown()


def application(
    watched: Watched,
    metrics_folder: str,
    page: MountedPage | None = None,
    *,
    needs_database: bool = False,
    upstreams: UpstreamStates = _NO_UPSTREAMS,
) -> WSGIApplication:
    """The WSGI application that answers health and metrics requests, and those that the page could not take."""
    metrics = make_wsgi_app(_registry(watched, metrics_folder))

    def ready() -> tuple[str, str]:
        if needs_database and not is_database_up(metrics_folder):
            return _AWAY, "the database does not answer"
        may_be_ready, sentences = upstreams.read(metrics_folder)
        number = watched.ready
        return (_OK if number and may_be_ready else _AWAY), "\n".join([f"{number} workers are ready", *sentences])

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == "/metrics":
            answered: Iterable[bytes] = metrics(environ, start_response)
            return answered
        if path == "/health/live":
            status, sentence = _OK, "alive"
        elif path == "/health/ready":
            status, sentence = ready()
        else:
            status, sentence = _elsewhere(page)
        start_response(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{sentence}\n".encode()]

    return answer


def _elsewhere(page: MountedPage | None) -> tuple[str, str]:
    """The answer to a request for neither health nor metrics, which no page has taken over."""
    if page is None:
        return "404 Not Found", "there are /health/live, /health/ready and /metrics"
    if page.over_tls:
        return "404 Not Found", "there are /health/live, /health/ready and /metrics, and the page over https"
    return _AWAY, "the page is being started"


def _registry(watched: Watched, metrics_folder: str) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(AllWorkers(metrics_folder))
    workers = Gauge("hmstats_workers", "Worker processes that serve clients.", registry=registry)
    workers.set_function(lambda: watched.ready)
    deaths = Gauge("hmstats_worker_deaths", "Workers that ended without being told to.", registry=registry)
    deaths.set_function(lambda: watched.deaths)
    return registry
