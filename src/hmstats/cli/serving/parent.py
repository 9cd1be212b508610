"""`python -m hmstats.cli.serving.parent PLAN`: the parent of the worker processes, which `hmstats serve` becomes.

The module imports little, so that the parent needs little memory; each worker is a fresh process.
"""

import json
import os
import signal
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from socket import socket

import structlog
from prometheus_client.multiprocess import mark_process_dead

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.serving import logs
from hmstats.errors import SettingsError
from hmstats.server.monitoring.health import serving_health
from hmstats.server.monitoring.metrics import FOLDER_VARIABLE
from hmstats.server.processes.supervisor import Supervisor
from hmstats.server.processes.worker_process import WorkerProcess
from hmstats.server.sockets.port import Port

_log = structlog.get_logger("hmstats.parent")
_WORKER = (sys.executable, "-P", "-m", "hmstats.cli.serving.worker")
_ONE_HEAP = {"MALLOC_ARENA_MAX": "1"}
"""One heap for all threads: with one each, glibc's default, memory that is free in one is of no use to the others, and
a worker with 8 threads held 150 MB more. Python's threads rarely allocate at the same time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of the parent, under the names that they have in hmstats.settings."""

    host: str
    port: int
    http_port: int | None
    workers: int
    alone: bool
    """Whether no two workers may run at once, not even an old and a new one."""
    drain_seconds: float
    log_level: str

    def to_text(self) -> str:
        """The plan as one argument of a command."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> "Plan":
        """Parse the argument of a command that `to_text` made."""
        return cls(**json.loads(text))


def main() -> int:
    """Run until told to stop; returns the exit code."""
    plan = Plan.from_text(sys.argv[1])
    logs.configure(plan.log_level)
    try:
        return _supervise(plan)
    except SettingsError as error:
        print(f"hmstats: {error}", file=sys.stderr)
        return ExitCode.ERROR


def _supervise(plan: Plan) -> int:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-metrics-", ignore_cleanup_errors=True))
        port = stack.enter_context(Port((plan.host, plan.port)))
        environment = {**_ONE_HEAP, **os.environ, FOLDER_VARIABLE: folder}

        def start(number: int, listening: socket, neighbours: tuple[int, ...]) -> WorkerProcess:
            return WorkerProcess(_WORKER, environment, number, listening, neighbours)

        def announce() -> None:
            host, number = port.address
            print(f"listening on {host}:{number}", flush=True)

        def buried(pid: int) -> None:
            mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]

        supervisor = Supervisor(
            port, start, plan.workers, plan.drain_seconds, alone=plan.alone, announce=announce, buried=buried
        )
        if plan.http_port is not None:
            host, http_port = stack.enter_context(serving_health((plan.host, plan.http_port), supervisor, folder))
            _log.info("health_served", host=host, port=http_port)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: supervisor.stop())
        signal.signal(signal.SIGHUP, lambda *_: supervisor.reload())
        return 0 if supervisor.run() else ExitCode.NO


if __name__ == "__main__":
    sys.exit(main())
