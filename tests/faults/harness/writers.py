"""Clients that write while something breaks, and the check that what is stored is the old or the new, never half."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.behaviour.structs import statistics, statistics_of
from tests.faults.harness.worker_processes import PATIENCE_SECONDS
from tests.fixtures.metastores import Metastore
from thriftpy2.protocol.cybin import ProtocolError
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TTransportException

from hmstats.wire.idl import hive_metastore as api

PARTITIONS = [f"k={number}" for number in range(10)]
COLUMNS = ("l", "d", "s")
BROKEN = (TTransportException, ProtocolError, OSError, EOFError)
"""What a client meets whose connection ended."""
REFUSED = (api.MetaException, TApplicationException)
"""What a server says that cannot reach its database, or is busy."""


@dataclass
class Writer:
    """Writes one number after the other into the statistics of a table's partitions, all of them in one call.

    It writes to `metastore`; what is stored is looked at by `direct`, the same unless a network lies between.
    """

    metastore: Metastore
    direct: Metastore
    table: str
    sent: int = 0
    answered: int = 0
    answers: int = 0
    broken: int = 0
    refusals: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Write until stopped, each time anew when the connection breaks or the server refuses."""
        client = None
        while not self.stopped.is_set():
            try:
                client = client or self.metastore.client()
                self.sent += 1
                client.set_aggr_stats_for(self.request(self.sent))
                self.answered = self.sent
                self.answers += 1
            except BROKEN:
                self.broken += 1
                client = None
                self.stopped.wait(0.02)
            except REFUSED as error:
                self.refusals.append(str(error.message))
                self.stopped.wait(0.02)

    def request(self, number: int) -> Any:
        """The call that puts this number everywhere."""
        columns = [statistics_of(each, numDVs=number) for each in COLUMNS]
        sets = [statistics(self.metastore, *columns, partition=each, table=self.table) for each in PARTITIONS]
        return api.SetPartitionsStatsRequest(colStats=sets, needMerge=False)

    def check(self) -> None:
        """What is stored is whole, and of the last answered write or one after it."""
        at_least = self.answered
        wanted = api.PartitionsStatsRequest(
            dbName=self.metastore.database, tblName=self.table, colNames=COLUMNS, partNames=PARTITIONS, engine="hive"
        )
        found = self.direct.client().get_partitions_statistics_req(wanted).partStats
        numbers = [_distinct(each.statsData) for columns in found.values() for each in columns]
        assert len(set(numbers)) <= 1, f"statistics of several writes at once: {set(numbers)}"
        assert len(numbers) in (0, len(PARTITIONS) * len(COLUMNS)), f"half of a write: {len(numbers)} columns"
        assert at_least <= max(numbers, default=0) <= self.sent


def _distinct(data: Any) -> int:
    (filled,) = (value for value in vars(data).values() if value is not None)
    return int(filled.numDVs)


@contextlib.contextmanager
def writing(metastore: Metastore, count: int, through: Metastore | None = None) -> Iterator[list[Writer]]:
    """Writers at work, each with a table of its own in a database that is made; they may write `through` a network."""
    metastore.client().create_database(api.Database(name=metastore.database))
    with contextlib.ExitStack() as stack:
        tables = [f"t{number}" for number in range(count)]
        yield [stack.enter_context(_at_work(through or metastore, metastore, table)) for table in tables]


@contextlib.contextmanager
def _at_work(metastore: Metastore, direct: Metastore, table: str) -> Iterator[Writer]:
    direct.table(table, keys=("k",))
    direct.add_partitions(*([each.removeprefix("k=")] for each in PARTITIONS), table=table)
    writer = Writer(metastore, direct, table)
    thread = threading.Thread(target=writer.run)
    thread.start()
    try:
        yield writer
    finally:
        writer.stopped.set()
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


def go_on(writers: Sequence[Writer]) -> None:
    """Return once each writer was answered again: the service is back."""
    before = [writer.answers for writer in writers]
    until = time.monotonic() + PATIENCE_SECONDS
    while any(writer.answers <= old for writer, old in zip(writers, before, strict=True)):
        last = [writer.refusals[-1:] for writer in writers]
        assert time.monotonic() < until, f"writers are not answered any more; they heard {last}"
        time.sleep(0.01)


def patiently(check: Callable[[], object]) -> None:
    """Do it again when the connection broke or the server refused: what was asked may be what was just broken."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            check()
        except (*BROKEN, *REFUSED):
            assert time.monotonic() < until
            time.sleep(0.05)
        else:
            return


def summary(writers: Sequence[Writer]) -> str:
    """What the writers met, for a test to print."""
    sent, answers, broken = (sum(getattr(each, name) for each in writers) for name in ("sent", "answers", "broken"))
    refused = sum(len(each.refusals) for each in writers)
    return f"{sent} writes sent, {answers} answered, {refused} refused, {broken} connections broken"
