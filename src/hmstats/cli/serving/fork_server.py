"""`python -m hmstats.cli.serving.fork_server CHANNEL`: loads all modules of a worker, and forks workers on demand.

CHANNEL is the file descriptor on which the parent orders. The first process that it forks prepares the server.
"""

import gc
import socket
import sys

from hmstats.cli.serving.orders import WORKER
from hmstats.server.processes.forking import Forked, forked


def main() -> int:
    """Fork until the parent is gone; returns the exit code, in each forked process its own."""
    _load_modules()
    order = forked(socket.socket(fileno=int(sys.argv[1])))
    return 0 if order is None else _obey(order)


def _load_modules() -> None:
    gc.disable()  # modules stay, so that collections find nothing and would take a sixth of the time
    import hmstats.cli.serving.worker  # noqa: F401, PLC0415 - loaded for the processes that are forked

    gc.enable()
    gc.collect()
    gc.freeze()  # a collection would write to the memory that all workers share


def _obey(order: Forked) -> int:
    kind, *arguments = order.arguments
    if kind == WORKER:
        from hmstats.cli.serving import worker  # noqa: PLC0415 - loaded before

        alone, number = arguments
        return worker.work(int(number), order.filenos, alone=alone == str(True))
    from hmstats.cli.serving.preparation import prepare  # noqa: PLC0415 - no other process needs migrations

    (answer,) = order.filenos
    return prepare(answer)


if __name__ == "__main__":
    sys.exit(main())
