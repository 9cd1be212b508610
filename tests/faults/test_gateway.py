"""A gateway between clients that write and an upstream whose processes are killed, as its own are.

Each write makes a database of a name of its own. What was answered must be there, what could not be sent must not, and
no write may have been carried out twice: the second time would have found the name taken.
"""

import os
import random
import threading
import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.faults.harness.worker_processes import Workers, metastore_of, wait_until, workers
from tests.faults.harness.writers import BROKEN
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

KILLS = int(os.environ.get("HMSTATS_TEST_KILLS", "3"))
WRITERS = 4


@dataclass
class Writes:
    """What became of the writes of a client, by the name of the database."""

    answered: set[str] = field(default_factory=set)
    unsent: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    odd: set[str] = field(default_factory=set)


def write(port: int, number: int, writes: Writes, ended: threading.Event) -> None:
    """Make databases until the end."""
    made = 0
    while not ended.is_set():
        metastore = Metastore("gateway", port, 4.0)
        with metastore.clients:
            try:
                client = metastore.client()
                while not ended.is_set():
                    made += 1
                    name = f"writer_{number}_{made}"
                    writes.broken.add(name)
                    try:
                        client.create_database(api.Database(name=name))
                        writes.answered.add(name)
                    except api.AlreadyExistsException:
                        writes.taken.add(name)
                    except api.MetaException as error:
                        (writes.unsent if "cannot be reached" in error.message else writes.odd).add(name)
                        time.sleep(0.05)
                    writes.broken.discard(name)
            except BROKEN:
                time.sleep(0.05)


@pytest.mark.slow
def test_processes_that_are_killed_on_both_sides_of_a_gateway(tmp_path: Path) -> None:
    with ExitStack() as stack:
        upstream = stack.enter_context(_server(tmp_path / "upstream"))
        gateway = stack.enter_context(_server(tmp_path / "gateway", upstream=f"thrift://127.0.0.1:{upstream.port}"))
        ended = threading.Event()
        writes = [Writes() for _ in range(WRITERS)]
        threads = [
            threading.Thread(target=write, args=(gateway.port, number, each, ended))
            for number, each in enumerate(writes)
        ]
        for thread in threads:
            thread.start()
        for number in range(KILLS):
            killed = gateway if number % 3 == 2 else upstream
            wait_until(killed.whole)
            _wait_for_more(writes)
            time.sleep(random.random() * 0.2)
            killed.kill(random.choice(sorted(killed.alive())))
        wait_until(lambda: upstream.whole() and gateway.whole())
        _wait_for_more(writes)
        ended.set()
        for thread in threads:
            thread.join()
        metastore = stack.enter_context(metastore_of(upstream.port))
        there = set(metastore.client().get_all_databases())
    for each in writes:
        assert each.answered <= there
        assert not each.unsent & there
        assert not each.taken | each.odd
    counts = {name: sum(len(getattr(each, name)) for each in writes) for name in ("answered", "unsent", "broken")}
    print(f"{KILLS} kills: {counts}")


def _wait_for_more(writes: list[Writes]) -> None:
    """Return when some more writes were answered."""
    before = sum(len(each.answered) for each in writes)
    wait_until(lambda: sum(len(each.answered) for each in writes) > before + 20)


def _server(folder: Path, **settings: object) -> AbstractContextManager[Workers]:
    folder.mkdir()
    return workers(folder, f"sqlite:///{folder}/hmstats.sqlite", 1, **settings)
