"""Changes of the catalog that are killed at a chosen step, in processes of their own.

A step is the moment before or after a commit or a change of files. The process that is forked for each change has
loaded everything, and opened neither a database nor a file system.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from tests.faults.harness.changers import change_until_killed
from tests.fixtures.servers import finding_tests

from hmstats.files import directories
from hmstats.model.catalog.objects import DatabaseName, Partition, TableName
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.file_changes import FileChanges
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit

_STEPS: tuple[tuple[Any, str], ...] = (
    (Unit, "commit"),
    (directories, "rename"),
    (directories, "copy"),
    (directories, "_copy_file"),
    (directories, "remove"),
    (directories, "empty"),
)
_KILLED = -signal.SIGKILL


def rename(store: Store, warehouse: Warehouse, database: str) -> None:
    """A table gets another name."""
    name = TableName("hive", database, "t")
    table = Tables(store, warehouse).get(name)
    TableAlterations(store, warehouse).alter(name, replace(table, name=TableName("hive", database, "u")))


def rename_partition(store: Store, warehouse: Warehouse, database: str) -> None:
    """A partition gets another value."""
    PartitionMoves(store, warehouse).rename(TableName("hive", database, "t"), ["1"], Partition(values=("9",)))


def exchange(store: Store, warehouse: Warehouse, database: str) -> None:
    """A partition becomes another table's."""
    names = (TableName("hive", database, each) for each in ("t", "other"))
    PartitionMoves(store, warehouse).exchange({"k": "1"}, *names)


def truncate(store: Store, warehouse: Warehouse, database: str) -> None:
    """A table loses its rows."""
    Truncation(store, warehouse).truncate(TableName("hive", database, "t"), None)


def truncate_partition(store: Store, warehouse: Warehouse, database: str) -> None:
    """A partition loses its rows."""
    Truncation(store, warehouse).truncate(TableName("hive", database, "t"), ["k=1"])


def drop_partition(store: Store, warehouse: Warehouse, database: str) -> None:
    """A partition goes with its files."""
    PartitionChanges(store, warehouse).drop(TableName("hive", database, "t"), ["1"], delete_data=True)


def drop_table(store: Store, warehouse: Warehouse, database: str) -> None:
    """A table goes with its files."""
    Tables(store, warehouse).drop(TableName("hive", database, "t"), delete_data=True)


def drop_database(store: Store, warehouse: Warehouse, database: str) -> None:
    """A database goes with its tables and their files."""
    Databases(store, warehouse).drop(DatabaseName("hive", database), delete_data=True, cascade=True)


def recover(store: Store, warehouse: Warehouse, database: str) -> None:
    """What the next server does, or the others from time to time."""
    FileChanges(store, warehouse).recover()


Change = Callable[[Store, Warehouse, str], None]
CHANGES: Mapping[str, Change] = {
    each.__name__: each
    for each in (
        rename,
        rename_partition,
        exchange,
        truncate,
        truncate_partition,
        drop_partition,
        drop_table,
        drop_database,
        recover,
    )
}


class _Killer:
    """Kills this process at its n-th step."""

    def __init__(self, kill_at: int) -> None:
        self._kill_at = kill_at
        self._steps = 0
        self._lock = threading.Lock()

    def patch(self) -> None:
        for owner, name in _STEPS:
            setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, work: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(work)
        def counted(*arguments: Any, **named: Any) -> Any:
            self._step()
            result = work(*arguments, **named)
            self._step()
            return result

        return counted

    def _step(self) -> None:
        with self._lock:
            if self._steps == self._kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            self._steps += 1


def _run(order: dict[str, Any]) -> int:
    """Fork a process that does a change and is killed at a step; how it ended, 0 when it came to the end."""
    child = os.fork()
    if child == 0:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the log would be taken for the answer
        code = 1
        try:
            store, warehouse = Store.open(order.pop("url"), pool_size=4), Warehouse(order.pop("warehouse"))
            if "seed" in order:
                change_until_killed(store, warehouse, **order)
            _Killer(order["kill_at"]).patch()
            CHANGES[order["change"]](store, warehouse, order["database"])
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@dataclass(frozen=True)
class Killing:
    """Processes that are killed, over a database and a warehouse."""

    _server: "subprocess.Popen[str]"
    url: str
    warehouse: str

    def survives(self, change: str, database: str, kill_at: int) -> bool:
        """Do a change in a process that is killed at a step; true when it ended before it came to that."""
        ended = self._do(change=change, database=database, kill_at=kill_at)
        assert ended in (0, _KILLED), f"{change} failed"
        return ended == 0

    def change_until_killed(self, databases: list[str], seed: int, after_seconds: float, *, copies: bool) -> None:
        """Change databases in a process of several threads that is killed after a time (changers.py)."""
        ended = self._do(databases=databases, seed=seed, after_seconds=after_seconds, copies=copies)
        assert ended == _KILLED, f"the process ended with {ended} before it was killed"

    def _do(self, **order: Any) -> int:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        print(json.dumps({"url": self.url, "warehouse": self.warehouse, **order}), file=self._server.stdin, flush=True)
        return int(self._server.stdout.readline())


@contextmanager
def killing(url: str, warehouse: str, environment: Mapping[str, str] | None = None) -> Iterator[Killing]:
    """Somewhere to kill changes."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.faults.harness.killing"]
    server = subprocess.Popen(
        command, env=finding_tests() | dict(environment or {}), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Killing(server, url, warehouse)
    finally:
        server.communicate(timeout=60)


if __name__ == "__main__":
    for line in sys.stdin:
        print(_run(json.loads(line)), flush=True)
