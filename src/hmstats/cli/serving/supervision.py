"""Supervises the worker processes once a server can start: opens the port, and keeps workers running."""

import os
import signal
import sys
from contextlib import ExitStack
from socket import socket

import structlog
from prometheus_client.multiprocess import mark_process_dead

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.serving import logs
from hmstats.cli.serving.orders import ENDING, WORKER
from hmstats.cli.serving.plan import Plan
from hmstats.errors import SettingsError
from hmstats.server.monitoring.health import serving_health
from hmstats.server.monitoring.mounted_page import MountedPage
from hmstats.server.monitoring.upstream_states import UpstreamStates
from hmstats.server.processes.fork_server import ForkServers
from hmstats.server.processes.page_process import PageProcess
from hmstats.server.processes.supervisor import Supervisor
from hmstats.server.processes.worker_process import WorkerProcess
from hmstats.server.sockets.port import Port, address_from_here, text_of

_log = structlog.get_logger("hmstats.parent")
_PAGE = (sys.executable, "-P", "-m", "hmstats.cli.serving.page")


def supervise(plan: Plan, fork_servers: ForkServers, folder: str) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit code. `folder` is that of the metrics."""
    logs.configure(plan.log_level)
    try:
        return _supervise(plan, fork_servers, folder)
    except SettingsError as error:
        print(f"hmstats: {error}", file=sys.stderr)
        return ExitCode.ERROR


def _supervise(plan: Plan, fork_servers: ForkServers, folder: str) -> int:
    with ExitStack() as stack:
        port = stack.enter_context(Port((plan.host, plan.port)))

        def start(number: int, listening: socket, neighbours: tuple[int, ...]) -> WorkerProcess:
            return WorkerProcess(fork_servers, [WORKER, plan.alone], number, listening, neighbours)

        def announce() -> None:
            print(f"listening on {text_of(port.address)}", flush=True)

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
        for number in ENDING:
            signal.signal(number, lambda *_: supervisor.stop())
        signal.signal(signal.SIGHUP, lambda *_: supervisor.reload())
        return 0 if supervisor.run() else ExitCode.NO
