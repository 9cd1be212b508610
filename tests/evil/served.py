"""A server of our own process, filled, whose database can be looked into."""

import contextlib
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine
from structlog.testing import capture_logs
from tests.evil.arguments import DATABASE, PARTITIONED, PARTITIONS, TABLE
from tests.evil.dumps import Dump, dump, restore
from tests.server.requests import Reply, encoded, envelope
from tests.server.serving import Client

from hmstats.server.access.guard import RuleSource
from hmstats.server.assembly import Rules, Security, build
from hmstats.server.limits import Limits
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store, database_url
from hmstats.wire.idl import Method
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.messages.envelope import CALL

_TYPES = {"b": "boolean", "l": "bigint", "d": "double", "s": "string", "dec": "decimal(10,2)", "ts": "timestamp"}


@dataclass(repr=False)
class Served:
    """A running server: a connection to it, its database as it was filled, and what it has logged."""

    client: Client
    engine: Engine
    log: list[MutableMapping[str, Any]]
    filled: Dump

    def ask(self, method: Method, arguments: Any) -> Reply:
        """The reply to a call with these arguments: a struct of them, or its bytes."""
        body = arguments if isinstance(arguments, bytes) else encoded(arguments)
        self.client.send(envelope(method.name, 1, CALL, body))
        return self.client.reply()

    def broken(self) -> list[MutableMapping[str, Any]]:
        """The calls that have met an error which nobody foresaw; forgets them."""
        found = [line for line in self.log if line["event"] == "call_broke"]
        self.log.clear()
        return found

    def changed(self) -> bool:
        """Whether the database holds something else than at first."""
        return dump(self.engine) != self.filled

    def refill(self) -> None:
        """Make it hold what it held."""
        restore(self.engine, self.filled)


@contextlib.contextmanager
def served(url: str, folder: Path, access: RuleSource | None = None) -> Iterator[Served]:
    """A server over the database, which has all kinds of objects when it begins.

    It keeps no answers, since the database is changed behind its back. `access` must allow all while it is filled.
    """
    store, engine = Store.open(url), create_engine(database_url(url))
    limits, security = Limits(answers_bytes=0), Security(access=access)
    server = build(store, Warehouse(str(folder)), ("127.0.0.1", 0), limits, Rules(), security)
    with capture_logs() as log, Client(server.start()) as client:
        try:
            _fill(client)
            yield Served(client, engine, log, dump(engine))
        finally:
            server.stop(0)
    engine.dispose()
    store.close()


def _fill(client: Client) -> None:
    for name, arguments in _calls():
        reply = client.ask(name, **arguments)
        assert not any(isinstance(each, Exception) for each in (reply.content, *vars(reply.content).values())), reply


def _calls() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "create_database", {"database": api.Database(name=DATABASE, description="", parameters={"k": "v"})}
    yield "create_table", {"tbl": _table(TABLE)}
    yield "create_table", {"tbl": _table(PARTITIONED, "k", "j")}
    yield "add_partitions", {"new_parts": [_partition("a", "1"), _partition("b", "2")]}
    yield "update_table_column_statistics", {"stats_obj": _statistics(TABLE, None)}
    yield "update_partition_column_statistics", {"stats_obj": _statistics(PARTITIONED, PARTITIONS[0])}


def _storage() -> Any:
    return api.StorageDescriptor(
        cols=[api.FieldSchema(name=column, type=kind, comment="") for column, kind in _TYPES.items()],
        serdeInfo=api.SerDeInfo(name="", serializationLib="serde", parameters={}),
    )


def _partition(*values: str) -> Any:
    return api.Partition(values=list(values), dbName=DATABASE, tableName=PARTITIONED, sd=_storage(), parameters={})


def _table(name: str, *keys: str) -> Any:
    columns = [api.FieldSchema(name=key, type="string", comment="") for key in keys]
    return api.Table(tableName=name, dbName=DATABASE, sd=_storage(), partitionKeys=columns, parameters={"numRows": "9"})


def _statistics(table: str, partition: str | None) -> Any:
    data = api.ColumnStatisticsData(longStats=api.LongColumnStatsData(lowValue=1, highValue=9, numNulls=1, numDVs=5))
    described = api.ColumnStatisticsDesc(
        isTblLevel=partition is None, dbName=DATABASE, tableName=table, partName=partition
    )
    columns = [api.ColumnStatisticsObj(colName="l", colType="bigint", statsData=data)]
    return api.ColumnStatistics(statsDesc=described, statsObj=columns)
