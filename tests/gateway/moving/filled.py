"""A database with everything that a move carries, and all answers about it."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fixtures.commands import Said, run_here
from tests.fixtures.metastores import Metastore
from tests.gateway.doors import long, until
from tests.gateway.places.several import Several

from hmstats.client import connect
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api

PARTITIONS = [["1"], ["2 /x"], ["ü"]]


def fill(places: Several, database: str, *, tables: int = 1) -> None:
    """Make a database through the server: tables, partitions, a view, a function, keys, statistics of two engines."""
    client, front = places.front.client(), places.front
    made = api.Database(
        name=database, description="of ours", parameters={"p": "1"}, ownerName="anna", ownerType=api.PrincipalType.USER
    )
    client.create_database(made)
    for number in range(tables):
        fill_table(front, database, f"t{number}")
    until(True, lambda: all(_is_marked(client, database, f"t{number}") for number in range(tables)))
    view = _table(client, database, "t0")
    view.tableName, view.tableType, view.partitionKeys = "v", "VIRTUAL_VIEW", []
    view.viewOriginalText = view.viewExpandedText = f"select a from {database}.t0"
    view.sd.location = None
    client.create_table(view)
    function = api.Function(
        functionName="f", dbName=database, className="x.Y", ownerName="me", ownerType=1, functionType=1, resourceUris=[]
    )
    client.create_function(function)
    named = f"pk_{database}"  # a Hive has one constraint of a name
    key = api.SQLPrimaryKey(database, "t0", "a", 1, named, enable_cstr=False, validate_cstr=False, rely_cstr=True)
    client.add_primary_key(api.AddPrimaryKeyRequest(primaryKeyCols=[key]))


def fill_table(front: Metastore, database: str, name: str) -> None:
    """Make a table of three partitions with statistics."""
    front.database = database
    front.table(name, {"a": "bigint"}, keys=["day"], parameters={"comment": "ours"})
    front.add_partitions(*PARTITIONS, table=name, columns={"a": "bigint"})
    with connect(f"thrift://127.0.0.1:{front.port}", retries=0) as ours:
        names = ours.partition_names(f"{database}.{name}")
        sets = [StatisticsSet((long(3, 7, values=("3", "4")),), each) for each in names]
        ours.put_partition_statistics(f"{database}.{name}", sets)
        ours.put_table_statistics(f"{database}.{name}", StatisticsSet((long(1, 9),)))


def _is_marked(client: Any, database: str, table: str) -> bool:
    """Whether the upstream has got the statistics of a table, and says so."""
    objects = [_table(client, database, table), *client.get_partitions(database, table, -1)]
    return all("COLUMN_STATS" in each.parameters.get("COLUMN_STATS_ACCURATE", "") for each in objects)


def _table(client: Any, database: str, name: str) -> Any:
    """A table by the call that every Hive has."""
    return client.get_table_req(api.GetTableRequest(dbName=database, tblName=name)).table


def answers(front: Metastore, database: str) -> dict[str, Any]:
    """What a metastore says of a database, but for ids and times."""
    client = front.client()
    found: dict[str, Any] = {"database": _plain(client.get_database(database), "type")}
    found["function"] = _plain(client.get_function(database, "f"), "createTime")
    key = api.PrimaryKeysRequest(db_name=database, tbl_name="t0", catName="hive")
    found["keys"] = [_plain(each) for each in client.get_primary_keys(key).primaryKeys]
    for name in sorted(client.get_all_tables(database)):
        found[name] = _plain(_table(client, database, name), "id", "lastAccessTime", "writeId")
        if name == "v":
            continue
        found[f"{name} partitions"] = [
            _plain(each, "lastAccessTime", "writeId") for each in client.get_partitions(database, name, -1)
        ]
        with connect(f"thrift://127.0.0.1:{front.port}", retries=0) as ours:
            sets = [*ours.statistics(f"{database}.{name}"), *ours.statistics(f"{database}.{name}", None, [])]
        found[f"{name} statistics"] = {
            (each.partition, each.engine, column.column): replace(column, provenance=None)
            for each in sets
            for column in each.columns
        }
    return found


def _plain(struct: Any, *times: str) -> str:
    return str({name: value for name, value in sorted(vars(struct).items()) if name not in times})


def move(places: Several, *arguments: str) -> Said:
    """`hmstats move` with the settings of the server, in this process, which need not start then.

    The servers of tests see a route that has changed within half a second, as all do.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HMSTATS__CONFIG", str(places.folder / "hmstats.toml"))
        patched.setattr("hmstats.gateway.places.routing.SETTLED_SECONDS", 1.0)
        return run_here("move", *arguments)
