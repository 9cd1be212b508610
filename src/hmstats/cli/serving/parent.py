"""`python -m hmstats.cli.serving.parent`: the parent of the worker processes, which `hmstats serve` becomes.

The module imports little, so that the parent needs little memory; the workers are forked by a fork server.
"""

import os
import signal
import sys
import tempfile
from contextlib import ExitStack
from socket import socket
from typing import NoReturn

import structlog
from prometheus_client.multiprocess import mark_process_dead

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.serving import logs
from hmstats.cli.serving.orders import PREPARE, WORKER
from hmstats.cli.serving.plan import Plan
from hmstats.errors import SettingsError
from hmstats.server.monitoring.health import serving_health
from hmstats.server.monitoring.metrics import FOLDER_VARIABLE
from hmstats.server.monitoring.mounted_page import MountedPage
from hmstats.server.monitoring.upstream_states import UpstreamStates
from hmstats.server.processes.fork_server import ForkServers
from hmstats.server.processes.page_process import PageProcess
from hmstats.server.processes.supervisor import Supervisor
from hmstats.server.processes.worker_process import WorkerProcess
from hmstats.server.sockets.port import Port, address_from_here

_log = structlog.get_logger("hmstats.parent")
_FORK_SERVER = (sys.executable, "-P", "-m", "hmstats.cli.serving.fork_server")
_PAGE = (sys.executable, "-P", "-m", "hmstats.cli.serving.page")
_ENDING = (signal.SIGTERM, signal.SIGINT)
_PREPARED_SECONDS = 5.0
"""How long the process that prepared may take to end after it gave its answer."""
_ONE_HEAP = {"MALLOC_ARENA_MAX": "1"}
"""One heap for all threads: with one each, glibc's default, memory that is free in one is of no use to the others, and
a worker with 8 threads held 150 MB more. Python's threads rarely allocate at the same time."""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""NumPy's and Arrow's libraries start threads when they are loaded, which a process that forks must not have."""


def main() -> int:
    """Run until signals_received to stop; returns the exit code."""
    signals_received = list[int]()
    for number in _ENDING:  # an exception while the fork server is started would leave it behind
        signal.signal(number, lambda number, _: signals_received.append(number))
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-metrics-", ignore_cleanup_errors=True))
        environment = {**_ONE_HEAP, **os.environ, **_ONE_THREAD, FOLDER_VARIABLE: folder}
        fork_servers = ForkServers(_FORK_SERVER, environment)
        stack.callback(fork_servers.close)
        fork_servers.renew()
        for number in _ENDING:
            signal.signal(number, _leave)
        if signals_received:
            _leave(signals_received[0], None)
        plan = _prepare(fork_servers)
        if plan is None:
            return ExitCode.ERROR
        logs.configure(plan.log_level)
        try:
            return _supervise(plan, fork_servers, folder)
        except SettingsError as error:
            print(f"hmstats: {error}", file=sys.stderr)
            return ExitCode.ERROR


def _leave(number: int, _: object) -> NoReturn:
    """End at a signal that comes before clients are served, when there is nothing to finish."""
    sys.exit(128 + number)


def _prepare(fork_servers: ForkServers) -> Plan | None:
    """The plan, once a server can start; None if it cannot, which has been said on standard error."""
    answer, theirs = os.pipe()
    with open(answer) as plan:  # noqa: PTH123 - a file descriptor
        try:
            fork_server, pid = fork_servers.fork([PREPARE], [theirs])
        except OSError:
            return None
        finally:
            os.close(theirs)
        text = plan.read()
    fork_server.reap(pid, _PREPARED_SECONDS)
    return Plan.from_text(text) if text else None


def _supervise(plan: Plan, fork_servers: ForkServers, folder: str) -> int:
    with ExitStack() as stack:
        port = stack.enter_context(Port((plan.host, plan.port)))

        def start(number: int, listening: socket, neighbours: tuple[int, ...]) -> WorkerProcess:
            return WorkerProcess(fork_servers, [WORKER, plan.alone], number, listening, neighbours)

        def announce() -> None:
            host, number = port.address
            print(f"listening on {host}:{number}", flush=True)

        def buried(pid: int) -> None:
            mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]

        page = PageProcess(os.environ, plan.drain_seconds)

        def renew() -> None:
            fork_servers.renew()
            page.renew()

        supervisor = Supervisor(
            port,
            start,
            plan.workers,
            plan.drain_seconds,
            alone=plan.alone,
            announce=announce,
            buried=buried,
            reloading=renew,
        )
        if plan.http_port is not None:
            mounted = MountedPage(page.hand_over, plan.page_over_tls) if plan.http_page else None
            health = (plan.host, plan.http_port)
            served = serving_health(
                health,
                supervisor,
                folder,
                mounted,
                needs_database=plan.ready_needs_database,
                upstreams=UpstreamStates(plan.upstreams, plan.ready_needs_upstreams),
            )
            host, http_port = stack.enter_context(served)
            _log.info("health_served", host=host, port=http_port)
            if plan.http_page:
                stack.callback(page.close)
                beside = f"http://{address_from_here((host, http_port))}"
                page.start((*_PAGE, str(port.address[1]), beside))
        for number in _ENDING:
            signal.signal(number, lambda *_: supervisor.stop())
        signal.signal(signal.SIGHUP, lambda *_: supervisor.reload())
        return 0 if supervisor.run() else ExitCode.NO


if __name__ == "__main__":
    sys.exit(main())
