"""A reply that is lost: the call was done once, the client asks again, and the second time changes nothing."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine
from tests.evil.dumps import Dump, dump
from tests.faults.harness.cutting import cutting
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats import client
from hmstats.errors import ServiceUnavailable
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.store.database.store import database_url
from hmstats.store.schema import METADATA
from hmstats.wire.idl import hive_metastore as api

LONG = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=9, nulls=0, ndv=5))
DATABASE = "d"
TABLE, PARTITIONED = (TableName("hive", DATABASE, table) for table in ("t", "p"))
_LOGS = frozenset({"NOTIFICATION_LOG", "NOTIFICATION_SEQUENCE", "HMSTATS_TABLE_CHANGE", "HMSTATS_OWN_CHANGE"})
"""They say which calls there were, also one that was done before."""
_OF_TIME = {
    "HMSTATS_TABLE_VERSION": ("VERSION", "TOLD_WRITES"),
    "TAB_COL_STATS": ("LAST_ANALYZED",),
    "PART_COL_STATS": ("LAST_ANALYZED",),
}
"""What every write changes, also one that was done before: columns that are left out when what is kept is compared."""
_TIME_OF_ALTER = "transient_lastDdlTime"

CHANGES: dict[str, tuple[str, Callable[[client.Metastore], object]]] = {
    "table statistics": (
        "set_statistics",
        lambda metastore: metastore.put_table_statistics(TABLE, StatisticsSet((LONG,))),
    ),
    "partition statistics": (
        "set_statistics",
        lambda metastore: metastore.put_partition_statistics(
            PARTITIONED, [StatisticsSet((LONG,), partition=f"k={each}") for each in "ab"]
        ),
    ),
    "table parameters": (
        "alter_table",
        lambda metastore: metastore.put_table_parameters(TABLE, {"numRows": "9"}),
    ),
    "partition parameters": (
        "alter_partitions",
        lambda metastore: metastore.put_partition_parameters(PARTITIONED, ["k"], {"k=a": {"numRows": "9"}}),
    ),
}
"""What our client writes: the call that carries it, and how it is written."""


class Running:
    """A metastore with two tables, and the database that it keeps them in."""

    def __init__(self, port: int, url: str) -> None:
        self.port = port
        self.engine = create_engine(database_url(url))
        self.behaviour = Metastore("hmstats", port, 4.0, database=DATABASE)
        self.behaviour.client().create_database(api.Database(name=DATABASE))
        self.behaviour.table()
        self.behaviour.table("p", keys=("k",))
        self.behaviour.add_partitions(("a",), ("b",), table="p")

    def kept(self) -> Dump:
        """What the database holds, but for logs, and the times and versions that every write moves."""
        found = dump(self.engine).items()
        return {
            name: [_timeless(name, row) for row in rows if _TIME_OF_ALTER not in row]
            for name, rows in found
            if name not in _LOGS and not name.startswith("HMSTATS_HISTORY")
        }


def _timeless(name: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    columns = METADATA.tables[name].c.keys()
    kept = (value for column, value in zip(columns, row, strict=True) if column not in _OF_TIME.get(name, ()))
    return tuple(_timeless_provenance(each) if isinstance(each, dict) else each for each in kept)


def _timeless_provenance(by_column: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {column: others for column, (_, *others) in by_column.items()}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("lost-replies")
    if request.param == "sqlite":
        url = f"sqlite:///{folder}/hmstats.sqlite"
        with serving(folder, database=url) as port:
            yield from _running(port, url)
        return
    server, template = (request.getfixturevalue(f"postgres_{each}") for each in ("server", "template"))
    with fresh_database(server, template) as url, serving(folder, database=url) as port:
        yield from _running(port, url)


def _running(port: int, url: str) -> Iterator[Running]:
    found = Running(port, url)
    with found.behaviour.clients:
        yield found
    found.engine.dispose()


@pytest.mark.parametrize("change", CHANGES)
def test_a_lost_reply_is_a_call_that_was_done(running: Running, change: str) -> None:
    method, write = CHANGES[change]
    with cutting(("127.0.0.1", running.port), method) as proxy, _connected(proxy.address, retries=0) as asking:
        with pytest.raises(ServiceUnavailable, match=f"broke in {method}"):
            write(asking)
        assert len(proxy.lost) == 1
        done = running.kept()
        write(asking)
    assert running.kept() == done


@pytest.mark.parametrize("change", CHANGES)
def test_our_client_asks_again_by_itself(running: Running, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmstats.client.connection.connection.sleep", lambda _: None)
    method, write = CHANGES[change]
    with _connected(("127.0.0.1", running.port), retries=0) as direct:
        write(direct)
    done = running.kept()
    with cutting(("127.0.0.1", running.port), method, most=2) as proxy, _connected(proxy.address, retries=3) as asking:
        write(asking)
    assert len(proxy.lost) == 2
    assert running.kept() == done


def _connected(address: tuple[str, int], retries: int) -> client.Metastore:
    return client.connect(f"thrift://{address[0]}:{address[1]}", timeout_seconds=20, retries=retries)
