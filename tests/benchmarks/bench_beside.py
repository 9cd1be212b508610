"""What kept answers are worth beside a real Hive Metastore 4.0.1 that logs its changes in their own transactions.

Run with `python -m tests.benchmarks.bench_beside`. It prints calls per second of one connection: with answers kept, the
same while Hive changes another table some times a second, without kept answers, and by Hive. It asserts none.
"""

import argparse
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.behaviour.structs import statistics, statistics_of
from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.load import Clients
from tests.benchmarks.harness.scenarios import SCENARIOS, Scenario, fill
from tests.fixtures.metastores import Metastore
from tests.fixtures.pairs import pair
from tests.fixtures.servers import serving
from tests.peers import event_listener
from tests.server.requests import request

from hmstats.wire.idl import hive_metastore as api

KEPT, CHANGED, READ, HIVE = "kept", "kept, Hive writes", "not kept", "Hive"


@contextmanager
def _writing(hive: Metastore, pause_seconds: float) -> Iterator[None]:
    """Hive writes statistics of a table that nobody asks for, again and again."""
    ended = threading.Event()

    def write() -> None:
        client, number = hive.client(), 0
        while not ended.wait(pause_seconds):
            number += 1
            client.update_table_column_statistics(statistics(hive, statistics_of("l", numDVs=number)))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()


class Bench:
    """Hive and two servers of ours over its database: one that keeps answers, and one that does not."""

    def __init__(self, stack: ExitStack, folder: Path, given: argparse.Namespace) -> None:
        self._given = given
        jars = event_listener.class_path("4.0")
        server, templates = stack.enter_context(durable_server()), {"4.0": "template1"}
        found = stack.enter_context(pair("4.0", server, templates, folder, event_listener.TRANSACTIONAL, jars=jars))
        (folder / READ).mkdir()
        settings = {"answers_bytes": 0, "log_level": "warning"}
        anew = stack.enter_context(serving(folder / READ, hive_site=found.site, settings=settings))
        self._ports = {KEPT: found.ours.port, READ: anew, HIVE: found.hive.port}
        self._hive = Metastore("hive-4.0", found.hive.port, 4.0, "other")
        stack.enter_context(self._hive.clients)
        fill(found.ours.port, 1)
        self._hive.client().create_database(api.Database(name="other", description="", parameters={}))
        self._hive.table()
        self._clients = stack.enter_context(Clients(1))

    def rates(self, scenario: Scenario) -> Mapping[str, float]:
        """Calls per second of each; warmed up before."""
        for name in self._ports:
            self._rate(name, scenario)
        found = {name: self._rate(name, scenario) for name in self._ports}
        with _writing(self._hive, self._given.pause):
            return found | {CHANGED: self._rate(KEPT, scenario)}

    def _rate(self, name: str, scenario: Scenario) -> float:
        sent = [request(scenario.method, **scenario.arguments(0))]
        return self._clients.calls(self._ports[name], scenario.method, sent, self._given.seconds).calls


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement; there are some thirty")
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between writes of Hive")
    given = parser.parse_args()
    names = (KEPT, CHANGED, READ, HIVE)
    table = Table("call", *names, title="Calls per second of one connection, beside Hive 4.0.1")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        bench = Bench(stack, folder, given)
        for scenario in SCENARIOS:
            if scenario.reads:
                rates = bench.rates(scenario)
                table.add_row(scenario.title, *(f"{rates[name]:,.0f}" for name in names))
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
