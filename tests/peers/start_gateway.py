"""Starts a real Hive Metastore with a gateway of ours before it, in the foreground.

    python -m tests.peers.start_gateway {2.3|3.1|4.0|4.1} --port P --dir WORKDIR [--set KEY=VALUE ...]

The Hive is on Derby, with the settings that start_hive takes, and its user's home is WORKDIR. Prints `ready P` once the
gateway listens; SIGTERM or SIGINT stops both. WORKDIR has what start_hive keeps there, the gateway's database and log.
"""

import argparse
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from tests.fixtures.hive import hive

HMSTATS = Path(sys.executable).parent / "hmstats"


def main() -> None:
    """Start both and stay until the gateway ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("generation")
    parser.add_argument("--port", required=True)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    folder = given.dir.resolve()
    asked_to_end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked_to_end.set())
    with ExitStack() as stack:
        home = f"-Duser.home={folder}"  # in which Hadoop has its trash
        upstream = stack.enter_context(hive(given.generation, folder, *given.set, java_options=[home]))
        database = ("--database", f"sqlite:///{folder}/gateway.sqlite", "--warehouse", f"file:{folder}/gateway")
        command = [HMSTATS, "serve", "--port", given.port, *database, "--upstream", f"thrift://127.0.0.1:{upstream}"]
        log = stack.enter_context((folder / "gateway.log").open("w"))
        environment = os.environ | {"HMSTATS__WORKERS": "1"}
        gateway = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        stack.callback(gateway.wait)
        stack.callback(gateway.terminate)
        assert gateway.stdout is not None
        if not gateway.stdout.readline().startswith("listening"):
            sys.exit(f"start_gateway: the gateway did not start, see {folder / 'gateway.log'}")
        print(f"ready {given.port}", flush=True)
        while gateway.poll() is None and not asked_to_end.wait(0.5):
            pass


if __name__ == "__main__":
    main()
