"""`hmstats serve` in a folder of its own, with nothing set up: an SQLite file and a free loopback port."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STOP_SECONDS = 60


def fresh_folder(folder: Path) -> Path:
    """The folder, empty: nothing of an earlier run is left."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@contextmanager
def running_server(folder: Path) -> Iterator[tuple[str, int]]:
    """The host and port of a server that runs as long as the context; its log is `server.log` in the folder."""
    program = Path(sys.executable).with_name("hmstats")
    command = [str(program), "serve", "--host", "127.0.0.1", "--port", "0"]
    log = folder / "server.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        try:
            yield _address(process, log)
        finally:
            process.terminate()
            process.wait(_STOP_SECONDS)


def _address(process: subprocess.Popen[str], log: Path) -> tuple[str, int]:
    line = process.stdout.readline() if process.stdout else ""
    if not line.startswith("listening on "):
        raise SystemExit(f"hmstats serve did not start: {log.read_text().strip()}")
    host, _, port = line.split()[-1].rpartition(":")
    return host, int(port)
