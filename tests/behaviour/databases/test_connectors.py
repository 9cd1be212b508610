"""Data connectors: kept and told as Hive 4 keeps and tells them, and the databases that are of another system."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

URL = "jdbc:mysql://db.example.org:3306/shop"
_numbers = count(1)


@pytest.fixture
def name(metastore: Metastore) -> Iterator[str]:
    """A connector's name of the test's own; what it made under it is dropped at the end."""
    if metastore.generation < 4:
        pytest.skip("data connectors came with Hive 4")
    wanted = f"connector_{next(_numbers)}"
    yield wanted
    metastore.client().drop_dataconnector_req(api.DropDataConnectorRequest(connectorName=wanted, ifNotExists=True))


def make(metastore: Metastore, name: str, **values: Any) -> None:
    connector = api.DataConnector(**{"name": name, "type": "mysql", "url": URL} | values)
    metastore.client().create_dataconnector_req(api.CreateDataConnectorRequest(connector=connector))


def read(metastore: Metastore, name: str) -> Any:
    return metastore.client().get_dataconnector_req(api.GetDataConnectorRequest(connectorName=name))


def drop(metastore: Metastore, name: str, *, if_exists: bool = False) -> None:
    request = api.DropDataConnectorRequest(connectorName=name, ifNotExists=if_exists, checkReferences=False)
    metastore.client().drop_dataconnector_req(request)


def test_a_connector_is_made_read_and_dropped(metastore: Metastore, name: str) -> None:
    given = {"description": "the shop", "parameters": {"hive.sql.dbcp.username": "ann"}, "ownerName": "ann"}
    make(metastore, name.upper(), ownerType=api.PrincipalType.ROLE, **given)
    found = read(metastore, name)
    assert (found.name, found.type, found.url, found.ownerType) == (name, "mysql", URL, api.PrincipalType.ROLE)
    assert {key: getattr(found, key) for key in given} == given
    assert found.createTime > 1_600_000_000
    assert name in metastore.client().get_dataconnectors()
    drop(metastore, name)
    assert name not in metastore.client().get_dataconnectors()
    with pytest.raises(api.NoSuchObjectException, match=name):
        read(metastore, name)


def test_an_owner_is_a_user_unless_said_otherwise(metastore: Metastore, name: str) -> None:
    make(metastore, name, ownerName="ann")
    found = read(metastore, name)
    assert (found.ownerType, found.description, found.parameters) == (api.PrincipalType.USER, None, {})


def test_a_name_is_taken_once(metastore: Metastore, name: str) -> None:
    make(metastore, name)
    with pytest.raises(api.AlreadyExistsException, match=f"DataConnector {name} already exists"):
        make(metastore, name, url="jdbc:other")
    assert read(metastore, name).url == URL


def test_a_malformed_name_is_refused(metastore: Metastore, name: str) -> None:
    with pytest.raises(api.InvalidObjectException, match="is not a valid dataconnector name"):
        make(metastore, "a\\b")


def test_an_alter_replaces_url_parameters_and_owner(metastore: Metastore, name: str) -> None:
    make(metastore, name, description="old", parameters={"a": "1", "b": "2"}, ownerName="ann")
    changed = api.DataConnector(
        name="other",
        type="postgres",
        url="jdbc:new",
        parameters={"b": "3", "c": "4"},
        ownerName="admins",
        ownerType=api.PrincipalType.ROLE,
    )
    request = api.AlterDataConnectorRequest(connectorName=name, newConnector=changed)
    metastore.client().alter_dataconnector_req(request)
    found = read(metastore, name)
    assert (found.name, found.type, found.url, found.description) == (name, "mysql", "jdbc:new", "old")
    assert found.parameters == {"b": "3", "c": "4"}
    assert (found.ownerName, found.ownerType) == ("admins", api.PrincipalType.ROLE)


def test_what_is_not_there(metastore: Metastore, name: str) -> None:
    connector = api.DataConnector(name=name, type="mysql", url=URL)
    with pytest.raises(api.NoSuchObjectException, match=name):
        read(metastore, name)
    with pytest.raises(api.NoSuchObjectException, match=f"DataConnector {name} doesn't exist"):
        drop(metastore, name)
    with pytest.raises(api.NoSuchObjectException, match=name):
        metastore.client().alter_dataconnector_req(
            api.AlterDataConnectorRequest(connectorName=name, newConnector=connector)
        )
    drop(metastore, name, if_exists=True)


def remote(metastore: Metastore, name: str, connector: str) -> Any:
    return api.Database(
        name=name,
        description="",
        parameters={},
        type=api.DatabaseType.REMOTE,
        connector_name=connector,
        remote_dbname="shop",
    )


def test_a_database_of_another_system_says_which(metastore: Metastore, name: str) -> None:
    make(metastore, name)
    client, database = metastore.client(), f"{metastore.database}_remote"
    client.create_database(remote(metastore, database, name))
    found = client.get_database_req(api.GetDatabaseRequest(name=database, catalogName="hive"))
    assert (found.type, found.connector_name, found.remote_dbname) == (api.DatabaseType.REMOTE, name, "shop")
    own = client.get_database_req(api.GetDatabaseRequest(name=metastore.database, catalogName="hive"))
    assert (own.type, own.connector_name, own.remote_dbname) == (api.DatabaseType.NATIVE, None, None)
    drop(metastore, name)
    client.drop_database(database, True, False)
    assert database not in client.get_all_databases()


def test_an_alter_leaves_a_database_with_its_system(metastore: Metastore, name: str) -> None:
    make(metastore, name)
    client, database = metastore.client(), f"{metastore.database}_remote"
    client.create_database(remote(metastore, database, name))
    changed = api.Database(name=database, description="changed", parameters={"a": "1"})
    client.alter_database(database, changed)
    found = client.get_database_req(api.GetDatabaseRequest(name=database, catalogName="hive"))
    assert (found.description, found.parameters) == ("changed", {"a": "1"})
    assert (found.type, found.connector_name, found.remote_dbname) == (api.DatabaseType.REMOTE, name, "shop")
    client.drop_database(database, True, False)


def test_no_table_is_made_in_another_system(metastore: Metastore, name: str) -> None:
    make(metastore, name)
    client, database = metastore.client(), f"{metastore.database}_remote"
    client.create_database(remote(metastore, database, name))
    table = api.Table(
        tableName="t", dbName=database, owner="ann", sd=metastore.storage(), partitionKeys=[], parameters={}
    )
    with pytest.raises(api.MetaException, match=f"Create table in REMOTE database {database} is not allowed"):
        client.create_table_req(api.CreateTableRequest(table=table))
    client.drop_database(database, True, False)


def test_the_calls_of_hive_4_0_0(our_metastore: Metastore) -> None:
    client, name = our_metastore.client(), "connector_of_4_0_0"
    client.create_dataconnector(api.DataConnector(name=name, type="derby", url="jdbc:derby:x"))
    client.alter_dataconnector(name, api.DataConnector(name=name, type="derby", url="jdbc:derby:y"))
    assert read(our_metastore, name).url == "jdbc:derby:y"
    client.drop_dataconnector(name, False, True)
    with pytest.raises(api.NoSuchObjectException):
        client.drop_dataconnector(name, False, True)


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.get_dataconnector_req(api.GetDataConnectorRequest()),
        lambda client: client.alter_dataconnector(None, api.DataConnector(name="a", type="t", url="u")),
        lambda client: client.drop_dataconnector(None, False, False),
    ],
)
def test_a_call_without_a_name_is_refused(our_metastore: Metastore, call: Callable[[Any], Any]) -> None:
    with pytest.raises(api.MetaException, match="a data connector's name must be a text, found none"):
        call(our_metastore.client())


@pytest.mark.parametrize("missing", ["name", "type", "url"])
def test_a_connector_is_whole(our_metastore: Metastore, missing: str) -> None:
    connector = api.DataConnector(**{"name": "c", "type": "t", "url": "u"} | {missing: None})
    connector.parameters = {"hive.sql.dbcp.password": "secret"}
    with pytest.raises(
        api.InvalidObjectException, match="a data connector must have a name, a type and a URL"
    ) as raised:
        our_metastore.client().create_dataconnector(connector)
    assert "secret" not in raised.value.message


def test_a_database_of_another_system_shows_no_tables(our_metastore: Metastore) -> None:
    client, database = our_metastore.client(), f"{our_metastore.database}_remote"
    client.create_dataconnector(api.DataConnector(name="silent", type="mysql", url=URL))
    client.create_database(remote(our_metastore, database, "silent"))
    assert client.get_all_tables(database) == []
    with pytest.raises(api.NoSuchObjectException):
        client.get_table(database, "orders")
    client.drop_dataconnector("silent", False, False)
    assert database in client.get_all_databases()
