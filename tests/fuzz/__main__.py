"""Sends mutated requests: most straight to the readers, one in twenty over sockets. Or expensive ones, for some time.

`make fuzz ARGS='--count 1000000 --seed 1'`, or `make fuzz ARGS='--shapes 3600 --seed 1'`. Without a seed each run has
another.

The processes share the work. A fault is told with its seed and the request's number, which give the same bytes again.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from contextlib import nullcontext

from tests.fixtures.databases.postgres import own_server
from tests.fuzz.in_process import Found, run
from tests.fuzz.judged import run as judge
from tests.fuzz.over_sockets import send

_OVER_SOCKETS = 20


def main() -> int:
    """Run; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="of requests, those over sockets included")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the same seed gives the same requests")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that share the work")
    parser.add_argument("--shapes", type=float, help="seconds in which expensive requests are sent, and no others")
    parser.add_argument("--most-bytes", type=int, default=5_000_000, help="of an expensive request")
    parser.add_argument("--postgres", action="store_true", help="the server of expensive requests is over PostgreSQL")
    given = parser.parse_args()
    if given.shapes is not None:
        with own_server() if given.postgres else nullcontext() as postgres:
            return _send_expensive(given.seed, given.shapes, given.most_bytes, postgres)
    over_sockets = given.count // _OVER_SOCKETS
    print(f"seed {given.seed}: {given.count:,} requests, {over_sockets:,} of them over sockets", flush=True)
    print(f"over sockets: {send(given.seed, range(over_sockets))}", flush=True)
    print(f"in process: {_in_processes(given.seed, range(over_sockets, given.count), given.processes)}")
    return 0


def _send_expensive(seed: int, seconds: float, most_bytes: int, postgres: str | None) -> int:
    judged = judge(seed, seconds, most_bytes, postgres=postgres)
    print(f"seed {seed}: {judged}")
    return 1 if judged.faults else 0


def _in_processes(seed: int, numbers: range, processes: int) -> Found:
    parts = [(seed, range(numbers.start + each, numbers.stop, processes)) for each in range(processes)]
    outcomes: Counter[str] = Counter()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for found in pool.starmap(run, parts):
            outcomes += found.outcomes
    return Found(outcomes)


if __name__ == "__main__":
    sys.exit(main())
