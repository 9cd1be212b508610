"""A worker that tells everyone who connects its number and process id, and ends when it is told to, or as FOLDER says.

`python small_worker.py FOLDER NUMBER LISTENING LIFELINE`. A file `fail` in the folder has it end before it is ready,
`stay` has it not end when told to; `fail-NUMBER` is for one worker only, `hopeless` says that
another start would end likewise. Who was told to end is written to `told`.
"""

import contextlib
import os
import socket
import sys
import threading
from pathlib import Path

from hmstats.server.processes.lifeline import Lifeline
from hmstats.server.processes.worker_process import HOPELESS


def main() -> None:
    """Serve."""
    folder, number = Path(sys.argv[1]), int(sys.argv[2])
    listening = socket.socket(fileno=int(sys.argv[3]))
    lifeline = Lifeline(int(sys.argv[4]))
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
