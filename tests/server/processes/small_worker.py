"""A fork server whose workers tell whoever connects their number and process id, and end as FOLDER says.

`python small_worker.py CHANNEL`; a worker is forked with FOLDER and its number. A file `fail` in the folder has it end
before it is ready, `stay` has it not end when told to; `fail-NUMBER` is for one worker only, `hopeless` says that
another start would end likewise. Who was told to end is written to `told`.
"""

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from hmstats.server.processes.forking import run_fork_server
from hmstats.server.processes.lifeline import Lifeline
from hmstats.server.processes.worker_process import HOPELESS


def main() -> None:
    """Fork workers until the parent is gone."""
    order = run_fork_server(socket.socket(fileno=int(sys.argv[1])))
    if order is not None:
        folder, number = order.arguments
        serve(Path(folder), int(number), order.filenos)


def serve(folder: Path, number: int, filenos: Sequence[int]) -> None:
    """Serve as a worker."""
    listening, lifeline = socket.socket(fileno=filenos[0]), Lifeline(filenos[1])
    if (folder / "fail").exists() or (folder / f"fail-{number}").exists():
        sys.exit(3)
    if (folder / "hopeless").exists():
        sys.exit(HOPELESS)
    ended = threading.Event()

    def drain(seconds: float) -> None:
        with (folder / "told").open("a") as told:
            told.write(f"{number} {seconds > 0}\n")
        if not (folder / "stay").exists():
            ended.set()

    listening.settimeout(0.02)
    lifeline.ready()
    lifeline.follow(drain, 0)
    while not ended.is_set():
        with contextlib.suppress(TimeoutError), listening.accept()[0] as accepted:
            accepted.sendall(f"{number} {os.getpid()}".encode())


if __name__ == "__main__":
    main()
