"""What a client may do around its calls: say who it is, ask for health, and call what the server does not have."""

import time

import pytest
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api


@pytest.mark.parametrize("groups", [[], ["staff", "wheel"]])
def test_a_caller_says_who_it_is_and_gets_its_groups(metastore: Metastore, groups: list[str]) -> None:
    client = metastore.client()
    assert client.set_ugi("ada", groups) == groups
    assert metastore.database in client.get_all_databases()


def test_many_calls_on_one_connection(metastore: Metastore) -> None:
    client = metastore.client()
    client.set_ugi("ada", [])
    for _ in range(20):
        assert client.get_database(metastore.database).name == metastore.database


def test_shutdown_does_not_stop_the_server(metastore: Metastore) -> None:
    """Clients call it when they close."""
    metastore.client().shutdown()
    assert metastore.database in metastore.client().get_all_databases()


def test_the_service_is_alive(metastore: Metastore) -> None:
    client = metastore.client()
    assert client.getStatus() == 2
    assert client.aliveSince() <= time.time() + 1
    assert isinstance(client.getName(), str)
    assert isinstance(client.getVersion(), str)


def test_a_setting_that_is_not_known_has_the_callers_default(metastore: Metastore) -> None:
    assert metastore.client().get_config_value("hive.no.such.setting", "fallback") == "fallback"


def test_an_unknown_method_is_named_and_the_connection_lives(metastore: Metastore) -> None:
    """Doris tests the words, Trino and Presto the type; Presto goes on with the same connection."""
    client = metastore.client()
    name = _method_that_is_missing(metastore)
    with pytest.raises(TApplicationException) as raised:
        getattr(client, name)(*_ARGUMENTS[name])
    assert raised.value.type == TApplicationException.UNKNOWN_METHOD
    assert raised.value.message == f"Invalid method name: '{name}'"
    assert metastore.database in client.get_all_databases()


def test_both_generations_of_calls_are_served(metastore: Metastore) -> None:
    """Hive 4.0.1 has lost get_table, which Spark calls; Hive 2.3 has not got what Hive 4's client calls."""
    metastore.table()
    client = metastore.client()
    assert metastore.read_table().tableName == "t"
    if metastore.flavour == "hive-4.0":
        with pytest.raises(TApplicationException, match="Invalid method name: 'get_table'"):
            client.get_table(metastore.database, "t")
    else:
        assert client.get_table(metastore.database, "t").tableName == "t"
    request = api.GetDatabaseRequest(name=metastore.database, catalogName="hive")
    if metastore.generation < 4:
        with pytest.raises(TApplicationException, match="Invalid method name: 'get_database_req'"):
            client.get_database_req(request)
    else:
        assert client.get_database_req(request).name == metastore.database


_ARGUMENTS = {
    "get_table": ("default", "t"),
    "get_database_req": (api.GetDatabaseRequest(name="default"),),
    "get_all_functions": (),
}


def _method_that_is_missing(metastore: Metastore) -> str:
    older = {"hive-2.3": "get_database_req", "hive-3.1": "get_database_req", "hive-4.0": "get_table"}
    return metastore.expects("get_all_functions", older)
