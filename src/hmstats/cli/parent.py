"""`python -m hmstats.cli.parent PLAN`: what `hmstats serve` becomes, the parent of the worker processes.

It imports little, so that it costs little memory and starts a worker as a fresh process.
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

from hmstats.cli import logs
from hmstats.errors import SettingsError
from hmstats.server.health import serving_health
from hmstats.server.metrics import FOLDER_VARIABLE
from hmstats.server.port import Port
from hmstats.server.supervisor import Supervisor
from hmstats.server.worker_process import WorkerProcess

USAGE_ERROR = 2
_NEVER_READY = 1

_log = structlog.get_logger("hmstats.parent")
_WORKER = (sys.executable, "-P", "-m", "hmstats.cli.worker")
_ONE_HEAP = {"MALLOC_ARENA_MAX": "1"}
"""glibc gives each thread a heap of its own else, and what large calls leave free in one is of no use to the others:
with 8 threads a worker held 150 MB more. Python's threads hardly ever allocate at the same time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the parent is told; hmstats.settings has the same names and says what they mean."""

    host: str
    port: int
    http_port: int | None
    workers: int
    alone: bool
    """Whether no two workers may run at once, an old and a new one neither."""
    drain_seconds: float
    log_level: str

    def to_text(self) -> str:
        """The plan as one argument of a command."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> "Plan":
        """The plan of such an argument."""
        return cls(**json.loads(text))


def main() -> int:
    """Run until told to stop; the exit code."""
    plan = Plan.from_text(sys.argv[1])
    logs.configure(plan.log_level)
    try:
        return _supervise(plan)
    except SettingsError as error:
        print(f"hmstats: {error}", file=sys.stderr)
        return USAGE_ERROR


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
        return 0 if supervisor.run() else _NEVER_READY


if __name__ == "__main__":
    sys.exit(main())
