"""Which reads a gateway sends without a thread: those of which nothing can be here."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.gateways import upstream_of
from tests.server.requests import reply_of, request

from hmstats.cli.serving.upstream import relay_of
from hmstats.gateway.gateway import Gateway
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import Session
from hmstats.settings import load
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

_TABLE = {"dbname": "d", "tbl_name": "t"}
_TABLE_REQUEST = {"req": api.GetTableRequest(dbName="d", tblName="t")}
_WITH_STATISTICS = {"req": api.GetTableRequest(dbName="d", tblName="t", getColumnStats=True)}
_STATISTICS = {"db_name": "d", "tbl_name": "t", "col_name": "c"}
_CLIENT = Session(connection_id=1, peer="here:1")


def table(session: Session, dbname: str, tbl_name: str) -> Any:
    return api.Table(dbName=dbname, tableName=tbl_name, parameters={}, partitionKeys=[], sd=api.StorageDescriptor())


@contextlib.contextmanager
def gateway_to(folder: Path, version: str, **settings: Any) -> Iterator[Gateway]:
    """A gateway to a Hive of this version, which logs changes if it is a 4; a connection waits for a call."""
    calls: dict[str, Callable[..., Any]] = {
        "getName": lambda session: "metastore",
        "getVersion": lambda session: version,
        "get_metastore_db_uuid": lambda session: "0c5f4d2e",
        "get_config_value": lambda session, **names: "org.example.DbNotificationListener",
        "get_current_notificationEventId": lambda session: api.CurrentNotificationEventId(eventId=7),
        "get_all_databases": lambda session: ["d"],
        "get_table": table,
        "get_table_req": lambda session, req: api.GetTableResult(table=table(session, req.dbName, req.tblName)),
    }
    url = f"sqlite:///{folder}/hmstats.sqlite"
    migrate.upgrade(url)
    store = Store.open(url)
    with upstream_of(**calls) as (host, port):
        made = relay_of(load({"upstream": f"thrift://{host}:{port}", **settings}), store)
        assert made is not None
        asked(made, "get_table", **_TABLE)
        yield made
        made.close()
    store.close()


def asked(gateway: Gateway, method: str, **arguments: Any) -> Relayed:
    """A thread's answer to a call that nothing here answers."""
    made: Any = None
    return gateway.answer(Request.of(request(method, **arguments)), _CLIENT, WholeAnswer(), made)


def sent(gateway: Gateway, method: str, **arguments: Any) -> bool:
    """Whether a call is sent at once; its answer is the one that a thread gets."""
    found = gateway.send_at_once(Request.of(request(method, **arguments)), _CLIENT)
    if found is None:
        return False
    found.hand_over()
    answer = found.finish(WholeAnswer())
    assert reply_of(answer.rest).content == reply_of(asked(gateway, method, **arguments).rest).content
    return True


def test_tables_of_a_hive_whose_log_proves_nothing(tmp_path: Path) -> None:
    with gateway_to(tmp_path, "3.1.3") as gateway:
        assert sent(gateway, "get_all_databases")
        assert sent(gateway, "get_table", **_TABLE)
        assert sent(gateway, "get_table_req", **_TABLE_REQUEST)


def test_tables_of_a_hive_of_which_answers_are_kept(tmp_path: Path) -> None:
    with gateway_to(tmp_path, "4.0.1") as gateway:
        assert sent(gateway, "get_all_databases")
        assert not sent(gateway, "get_table", **_TABLE)
        assert not sent(gateway, "get_table_req", **_TABLE_REQUEST)


def test_tables_if_no_answers_are_to_be_kept(tmp_path: Path) -> None:
    with gateway_to(tmp_path, "4.0.1", upstream_cache_bytes=0) as gateway:
        assert sent(gateway, "get_table", **_TABLE)
        assert sent(gateway, "get_table_req", **_TABLE_REQUEST)


@pytest.mark.parametrize("version", ["3.1.3", "4.0.1"])
def test_statistics_may_be_here(tmp_path: Path, version: str) -> None:
    with gateway_to(tmp_path, version) as gateway:
        assert not sent(gateway, "get_table_req", **_WITH_STATISTICS)
        assert not sent(gateway, "get_table_column_statistics", **_STATISTICS)


def test_nothing_else_than_reads(tmp_path: Path) -> None:
    with gateway_to(tmp_path, "3.1.3") as gateway:
        assert not sent(gateway, "drop_type", type="t")
        assert not sent(gateway, "get_preferences", request=None)
