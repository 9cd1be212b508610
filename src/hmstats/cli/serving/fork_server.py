"""`python -m hmstats.cli.serving.fork_server [prepare] CHANNEL`: loads all modules of a worker, and forks workers.

CHANNEL is the file descriptor on which the parent orders. With `prepare` it first forks the process that prepares the
server, as soon as that one's modules are loaded, and loads the others meanwhile.
"""

import gc
import os
import socket
import sys
from typing import NoReturn

from hmstats.cli.serving.orders import PREPARE, WORKER
from hmstats.server.processes.forking import Forked, run_fork_server


def main() -> int:
    """Fork until the parent is gone; returns the exit code, in each forked process its own."""
    channel = socket.socket(fileno=int(sys.argv[-1]))
    gc.disable()  # modules stay, so that collections find nothing and would take a sixth of the time
    order = None
    if PREPARE in sys.argv[1:-1]:
        import hmstats.cli.serving.preparation  # noqa: F401, PLC0415 - loaded for the process that is forked

        order = run_fork_server(channel, processes=1)
    if order is None:
        _load_worker()
        order = run_fork_server(channel)
    return 0 if order is None else _obey(order)


def _load_worker() -> None:
    import hmstats.cli.serving.worker  # noqa: F401, PLC0415 - loaded for the processes that are forked

    gc.freeze()  # a collection would write to the memory that all workers share; here it would find a megabyte
    gc.enable()


def _obey(order: Forked) -> int:
    kind, *arguments = order.arguments
    if kind != WORKER:
        (answer,) = order.filenos
        _prepare(answer)
    from hmstats.cli.serving import worker  # noqa: PLC0415 - loaded before

    alone, number = arguments
    return worker.work(int(number), order.filenos, alone=alone == str(True))


def _prepare(answer: int) -> NoReturn:
    from hmstats.cli.serving.preparation import prepare  # noqa: PLC0415 - loaded before, unless a fork server died

    gc.enable()
    status = prepare(answer)
    sys.stderr.flush()
    os._exit(status)  # clients wait for its end, and taking all modules apart takes a tenth of a second


if __name__ == "__main__":
    sys.exit(main())
