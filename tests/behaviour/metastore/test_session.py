"""What a client may do around its calls: say who it is, ask for health, and call what the server does not have."""

import time
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from tests.fixtures.metastores import HIVES, Metastore
from tests.fixtures.servers import serving
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api


@pytest.mark.parametrize("groups", [[], ["staff", "wheel"]])
def test_a_caller_says_who_it_is_and_gets_its_groups(metastore: Metastore, groups: list[str]) -> None:
    client = metastore.client()
    assert client.set_ugi("ada", groups) == groups
    assert metastore.database in client.get_all_databases()


def test_what_a_connection_keeps_of_its_client_is_small(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    groups = ["a group of a windows domain"] * 1_000
    assert client.set_ugi("ada", groups) == groups
    for user, named in (("a" * 65_537, []), ("ada", ["g" * 1_000] * 100)):
        with pytest.raises(
            api.MetaException, match=r"a user and its groups must have at most 65,536 characters, found"
        ):
            client.set_ugi(user, named)
    name = "metastore.try.direct.sql"
    with pytest.raises(
        api.MetaException, match=rf"the value of {name} must have at most 4,096 characters, found 5,000"
    ):
        client.setMetaConf(name, "t" * 5_000)
    assert client.getMetaConf(name) == "true"


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
    assert metastore.client().get_config_value(None, "fallback") == "fallback"


@pytest.mark.parametrize("name", ["javax.jdo.option.ConnectionPassword", "x"])
def test_a_setting_that_is_not_hives_is_not_shown(metastore: Metastore, name: str) -> None:
    with pytest.raises(api.ConfigValSecurityException, match=f"the config key {name} cannot be accessed"):
        metastore.client().get_config_value(name, "fallback")


def test_clients_can_ask_where_the_warehouse_is(metastore: Metastore) -> None:
    """By the name that their generation has for it."""
    client = metastore.client()
    name = metastore.expects("metastore.warehouse.dir", {"hive-2.3": "hive.metastore.warehouse.dir"})
    warehouse = client.get_config_value(name, "")
    location = client.get_database(metastore.database).locationUri
    assert PurePosixPath(urlsplit(location).path).parent == PurePosixPath(urlsplit(warehouse).path)
    assert client.get_config_value("hive.metastore.warehouse.dir", "") == warehouse
    assert client.get_config_value("hive.exec.default.partition.name", "") == "__HIVE_DEFAULT_PARTITION__"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hive.metastore.dml.events", "true"),
        ("metastore.catalog.default", "hive"),
        ("hive.metastore.notifications.add.thrift.objects", "true"),
        ("hive.metastore.alter.notifications.basic", "false"),
        ("hive.metastore.notification.parameters.exclude.patterns", ""),
        ("metastore.event.db.notification.api.auth", "false"),
        ("hive.txn.timeout", "300s"),
        ("metastore.stats.fetch.bitvector", "false"),
        ("hive.metastore.limit.partition.request", "-1"),
    ],
)
def test_clients_can_ask_how_it_is_done_here(our_metastore: Metastore, name: str, value: str) -> None:
    """Impala asks whether it can follow the catalog by events, and for the default catalog."""
    assert our_metastore.client().get_config_value(name, "unset") == value


@pytest.mark.slow
def test_settings_follow_the_servers_own(tmp_path: Path) -> None:
    given = {"notifications": "false", "send_sketches": "true", "most_partitions_listed": "7"}
    with serving(tmp_path, settings=given) as port:
        metastore = Metastore("hmstats-sqlite", port, 4.0)
        with metastore.clients:
            client = metastore.client()
            assert client.get_config_value("hive.metastore.dml.events", "") == "false"
            assert client.get_config_value("hive.metastore.limit.partition.request", "") == "7"
            assert client.get_config_value("metastore.stats.fetch.kll", "") == "true"


@pytest.mark.parametrize("name", ["metastore.expression.proxy", "hive.metastore.expression.proxy"])
def test_the_reader_of_partition_expressions_may_be_named(metastore: Metastore, name: str) -> None:
    """MSCK of Hive 4 does so."""
    if metastore.generation < 4:
        pytest.skip("Hive before 4 does not know this setting of a connection")
    client = metastore.client()
    client.setMetaConf(name, "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy")
    assert client.getMetaConf(name).endswith(".DefaultPartitionExpressionProxy")


def test_a_setting_of_the_metastore_is_kept_for_the_connection(metastore: Metastore) -> None:
    client, name = metastore.client(), "hive.metastore.try.direct.sql"
    assert client.getMetaConf(name) == "true"
    client.setMetaConf(name, "false")
    assert client.getMetaConf(name) == "false"
    assert metastore.client().getMetaConf(name) == "true"


def test_a_setting_of_the_metastore_has_an_old_and_a_new_name(our_metastore: Metastore) -> None:
    """Hive has had the new ones since 3."""
    client = our_metastore.client()
    client.setMetaConf("metastore.client.socket.timeout", "5s")
    assert client.getMetaConf("hive.metastore.client.socket.timeout") == "5s"
    client.setMetaConf("hive.metastore.client.socket.timeout", None)
    assert client.getMetaConf("metastore.client.socket.timeout") == "600s"


@pytest.mark.parametrize("name", ["nope", ""])
def test_an_unknown_setting_of_the_metastore_is_refused(metastore: Metastore, name: str) -> None:
    client = metastore.client()
    with pytest.raises(api.MetaException, match=f"Invalid configuration key {name}"):
        client.getMetaConf(name)
    with pytest.raises(api.MetaException, match=f"Invalid configuration key {name}"):
        client.setMetaConf(name, "1")


def test_a_cache_may_be_flushed(metastore: Metastore) -> None:
    metastore.client().flushCache()


def test_calls_are_counted(metastore: Metastore) -> None:
    """Hive counts from the second call on."""
    client = metastore.client()
    client.get_all_databases()
    before = client.getCounters().get("get_all_databases", 0)
    client.get_all_databases()
    counters = client.getCounters()
    if metastore.ours:
        assert counters["get_all_databases"] == before + 1 == client.getCounter("get_all_databases")
    assert client.getCounter("no_such_call") == 0


def test_delegation_tokens_are_refused(metastore: Metastore) -> None:
    """Hive says so with the trace of a null pointer where it has no Kerberos."""
    client = metastore.client()
    for call, arguments in (
        (client.get_delegation_token, ("ada", "hive/host")),
        (client.renew_delegation_token, ("token",)),
        (client.cancel_delegation_token, ("token",)),
    ):
        with pytest.raises(api.MetaException, match=metastore.expects("issues none", dict.fromkeys(HIVES, "null"))):
            call(*arguments)


def test_options_of_the_service_have_no_meaning(our_metastore: Metastore) -> None:
    """Hive keeps them in the memory of the one server."""
    client = our_metastore.client()
    assert client.getOptions() == {}
    assert client.getOption("a") == ""
    with pytest.raises(TApplicationException, match="none can be set"):
        client.setOption("a", "b")
    assert client.getCpuProfile(1) == ""
    client.reinitialize()
    assert our_metastore.database in client.get_all_databases()


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
    "clear_file_metadata": (api.ClearFileMetadataRequest(fileIds=[1]),),
}


def _method_that_is_missing(metastore: Metastore) -> str:
    older = {"hive-2.3": "get_database_req", "hive-3.1": "get_database_req", "hive-4.0": "get_table"}
    return metastore.expects("clear_file_metadata", older)


def test_a_metastore_has_one_uuid(our_metastore: Metastore) -> None:
    first = our_metastore.client().get_metastore_db_uuid()
    assert UUID(first).version == 4
    assert our_metastore.client().get_metastore_db_uuid() == first
