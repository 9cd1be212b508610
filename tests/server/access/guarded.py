"""A server with access rules, whose clients are whom a test says, and a few tables."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.server.serving import Client

from hmstats.model.access.principal import Principal
from hmstats.model.access.rule_file import parse_rules
from hmstats.server.assembly import Rules, Security, build
from hmstats.server.calls.audit import AuditLog
from hmstats.server.limits import Limits
from hmstats.server.rpc.caller import Session
from hmstats.service.statistics.history.upkeep import HistoryUpkeep, Retention
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.wire.idl import hive_metastore as api

ROOT = '[[rule]]\nusers = ["root"]\nallow = ["list", "read", "read_statistics", "write_statistics", "create", "alter", '
ROOT += '"drop", "lock", "read_notifications", "admin"]\n'


class Guarded:
    """A running server; `root` may do everything, the others what `rule` says."""

    def __init__(self, address: tuple[str, int], server: Any) -> None:
        self._address = address
        self._server = server
        self.rules = parse_rules(ROOT, "rules.toml")
        self._clients = contextlib.ExitStack()

    @property
    def address(self) -> tuple[str, int]:
        """Host and port, for clients that are whom the last call of `client` has named."""
        return self._address

    def refresh(self) -> None:
        """Nothing to look for."""

    def rule(self, text: str) -> None:
        """Let these rules be in force, after root's."""
        self.rules = parse_rules(ROOT + text, "rules.toml")

    def client(self, user: str | None, *groups: str, spark: bool = False) -> Client:
        """A new connection of a user; of nobody who is known without one."""
        principal = None if user is None else Principal(user, groups, "kerberos")

        def session(number: int, peer: str) -> Session:
            return Session(number, peer, principal=principal, user=user, is_spark=spark)

        self._server._sessions = session
        self._server._loop._exchange._sessions = session
        client = self._clients.enter_context(Client(self._address))
        assert client.ask("getName").value == "hmstats"
        return client

    def close(self) -> None:
        """Close the connections."""
        self._clients.close()


@contextlib.contextmanager
def guarded(url: str, folder: Path, audit: AuditLog | None = None, *, rules: bool = True) -> Iterator[Guarded]:
    """A server with the databases `open` and `shut`, each with the tables `t` and `p`, which is partitioned by k.

    Without `rules`, everybody may do everything.
    """
    store = Store.open(url)
    store.enable_history()
    HistoryUpkeep(store, Retention()).run()
    running = Guarded(("", 0), None)
    security = Security(access=running if rules else None, audit=audit)
    server = build(store, Warehouse(str(folder)), ("127.0.0.1", 0), Limits(), Rules(), security)
    running._server, running._address = server, server.start()
    try:
        root = running.client("root")
        for database in ("open", "shut"):
            done(root.ask("create_database", database=api.Database(name=database, description="", parameters={})))
            for name, keys in (("t", ""), ("p", "k")):
                done(root.ask("create_table", tbl=table(database, name, *keys)))
            done(root.ask("add_partitions", new_parts=[partition(database, "a"), partition(database, "b")]))
            done(root.ask("update_table_column_statistics", stats_obj=statistics(database, "t")))
        yield running
    finally:
        running.close()
        server.stop(0)
        store.close()


def storage() -> Any:
    """A storage descriptor with the column l."""
    columns = [api.FieldSchema(name="l", type="bigint", comment="")]
    return api.StorageDescriptor(cols=columns, serdeInfo=api.SerDeInfo(name="", serializationLib="s", parameters={}))


def table(database: str, name: str, *keys: str) -> Any:
    """A new table."""
    columns = [api.FieldSchema(name=key, type="string", comment="") for key in keys]
    return api.Table(tableName=name, dbName=database, sd=storage(), partitionKeys=columns, parameters={"x": "1"})


def partition(database: str, value: str) -> Any:
    """A new partition of table p."""
    return api.Partition(values=[value], dbName=database, tableName="p", sd=storage(), parameters={})


def statistics(database: str, name: str) -> Any:
    """Statistics of the column l."""
    data = api.ColumnStatisticsData(longStats=api.LongColumnStatsData(lowValue=1, highValue=9, numNulls=1, numDVs=5))
    described = api.ColumnStatisticsDesc(isTblLevel=True, dbName=database, tableName=name)
    return api.ColumnStatistics(
        statsDesc=described, statsObj=[api.ColumnStatisticsObj(colName="l", colType="bigint", statsData=data)]
    )


def raised(reply: Any) -> Any:
    """The exception in a reply."""
    found = [each for each in (reply.content, *vars(reply.content).values()) if isinstance(each, Exception)]
    assert found, reply
    return found[0]


def done(reply: Any) -> Any:
    """What a call returned, which raised nothing."""
    assert not any(isinstance(each, Exception) for each in (reply.content, *vars(reply.content).values())), reply
    return getattr(reply.content, "success", None)
