"""Sends mutated requests: most straight to the readers, one in twenty over sockets.

`make fuzz ARGS='--count 1000000 --seed 1'`. Without a seed each run has another.

The processes share the work. A fault is told with its seed and the request's number, which give the same bytes again.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter

from tests.fuzz.in_process import Found, run
from tests.fuzz.over_sockets import send

_OVER_SOCKETS = 20


def main() -> int:
    """Run; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="of requests, those over sockets included")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the same seed gives the same requests")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that share the work")
    given = parser.parse_args()
    over_sockets = given.count // _OVER_SOCKETS
    print(f"seed {given.seed}: {given.count:,} requests, {over_sockets:,} of them over sockets", flush=True)
    print(f"over sockets: {send(given.seed, range(over_sockets))}", flush=True)
    print(f"in process: {_in_processes(given.seed, range(over_sockets, given.count), given.processes)}")
    return 0


def _in_processes(seed: int, numbers: range, processes: int) -> Found:
    parts = [(seed, range(numbers.start + each, numbers.stop, processes)) for each in range(processes)]
    outcomes: Counter[str] = Counter()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for found in pool.starmap(run, parts):
            outcomes += found.outcomes
    return Found(outcomes)


if __name__ == "__main__":
    sys.exit(main())
