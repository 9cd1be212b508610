"""`python -m hmstats.cli.serving.parent`: the parent of the worker processes, which `hmstats serve` becomes.

The module imports little, so that the fork server, which forks the workers, is started at once and loads their modules
while the parent loads its own.
"""

import os
import signal
import sys
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import NoReturn

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.serving.orders import ENDING, PREPARE
from hmstats.cli.serving.plan import Plan
from hmstats.server.monitoring.metrics_folder import FOLDER_VARIABLE
from hmstats.server.processes.fork_server import ForkServers

_FORK_SERVER = (sys.executable, "-P", "-m", "hmstats.cli.serving.fork_server")
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
    for number in ENDING:  # an exception while the fork server is started would leave it behind
        signal.signal(number, lambda number, _: signals_received.append(number))
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(TemporaryDirectory(prefix="hmstats-metrics-", ignore_cleanup_errors=True))
        except OSError as error:
            print(f"hmstats: temporary files cannot be written, set TMPDIR: {error}", file=sys.stderr)
            return ExitCode.ERROR
        environment = {**_ONE_HEAP, **os.environ, **_ONE_THREAD, FOLDER_VARIABLE: folder}
        fork_servers = ForkServers(_FORK_SERVER, environment)
        stack.callback(fork_servers.close)
        fork_servers.renew(PREPARE)
        for number in ENDING:
            signal.signal(number, _leave)
        if signals_received:
            _leave(signals_received[0], None)
        from hmstats.cli.serving.supervision import supervise  # noqa: PLC0415 - loaded beside the fork server's modules

        plan = _prepare(fork_servers)
        return ExitCode.ERROR if plan is None else supervise(plan, fork_servers, folder)


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


if __name__ == "__main__":
    sys.exit(main())
