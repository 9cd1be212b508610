"""Answers about tables and partitions that a server keeps are never old: each change shows at once, on every server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.behaviour.structs import column_object
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.wire.idl import hive_metastore as api

DATABASE, COLUMNS = "kept", {"a": "bigint", "b": "bigint"}


def questions(table: str) -> dict[str, Callable[[Any], Any]]:
    """A question of each kind whose answers are kept."""
    names = ["k=1", "k=2", "k=9"]
    by_names = api.GetPartitionsByNamesRequest(db_name=DATABASE, tbl_name=table, names=names)
    all_of_them = api.PartitionsRequest(dbName=DATABASE, tblName=table, maxParts=-1)
    filtered = api.GetPartitionsByFilterRequest(dbName=DATABASE, tblName=table, filter="k > '1'", maxParts=-1)
    one = api.GetPartitionRequest(dbName=DATABASE, tblName=table, partVals=["1"])
    table_request = api.GetTableRequest(dbName=DATABASE, tblName=table, getColumnStats=True, engine="hive")
    return {
        "get_table": lambda client: client.get_table(DATABASE, table),
        "get_table_req": lambda client: client.get_table_req(table_request),
        "get_partition": lambda client: client.get_partition(DATABASE, table, ["1"]),
        "get_partition_by_name": lambda client: client.get_partition_by_name(DATABASE, table, "k=1"),
        "get_partition_req": lambda client: client.get_partition_req(one),
        "get_partitions": lambda client: client.get_partitions(DATABASE, table, -1),
        "get_partitions_req": lambda client: client.get_partitions_req(all_of_them),
        "get_partitions_by_names": lambda client: client.get_partitions_by_names(DATABASE, table, names),
        "get_partitions_by_names_req": lambda client: client.get_partitions_by_names_req(by_names),
        "get_partitions_by_filter": lambda client: client.get_partitions_by_filter(DATABASE, table, "k >= '2'", -1),
        "get_partitions_by_filter_req": lambda client: client.get_partitions_by_filter_req(filtered),
        "get_partitions_ps": lambda client: client.get_partitions_ps(DATABASE, table, ["1"], -1),
        "get_num_partitions_by_filter": lambda client: client.get_num_partitions_by_filter(DATABASE, table, "k = '1'"),
        "get_partition_names": lambda client: client.get_partition_names(DATABASE, table, -1),
        "get_partition_names_ps": lambda client: client.get_partition_names_ps(DATABASE, table, ["2"], -1),
    }


def _altered(client: Any, change: Callable[[Any], None]) -> None:
    table = client.get_table(DATABASE, "t")
    change(table)
    client.alter_table(DATABASE, "t", table)


def _altered_partition(client: Any) -> None:
    partition = client.get_partition(DATABASE, "t", ["1"])
    partition.parameters["numRows"] = "12"
    client.alter_partition(DATABASE, "t", partition)


def _renamed_partition(client: Any) -> None:
    partition = client.get_partition(DATABASE, "t", ["2"])
    partition.values = ["9"]
    client.rename_partition(DATABASE, "t", ["2"], partition)


def _written(client: Any) -> None:
    data = api.LongColumnStatsData(numNulls=0, numDVs=5)
    description = api.ColumnStatisticsDesc(isTblLevel=True, dbName=DATABASE, tableName="t")
    objects = [column_object("a", "bigint", "longStats", data)]
    client.update_table_column_statistics(api.ColumnStatistics(statsDesc=description, statsObj=objects))


def _made_again(client: Any) -> None:
    table = client.get_table(DATABASE, "t")
    client.drop_table(DATABASE, "t", False)
    client.create_table(table)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "a parameter": lambda client: _altered(client, lambda table: table.parameters.update(a="b")),
    "a column": lambda client: _altered(
        client, lambda table: table.sd.cols.append(api.FieldSchema(name="c", type="int"))
    ),
    "statistics": _written,
    "a partition's parameter": _altered_partition,
    "a partition more": lambda client: client.append_partition(DATABASE, "t", ["3"]),
    "a partition less": lambda client: client.drop_partition(DATABASE, "t", ["3"], False),
    "a partition's name": _renamed_partition,
    "truncation": lambda client: client.truncate_table(DATABASE, "t", None),
    "the same name for a new table": _made_again,
    "a database less": lambda client: client.drop_database(DATABASE, False, True),
}
"""One after the other."""


@pytest.fixture
def servers(database_url: str, tmp_path: Path) -> Iterator[list[Metastore]]:
    """Three over one database; the last keeps no answers."""
    with ExitStack() as stack:
        found = []
        for number, answers_bytes in enumerate((2**24, 2**24, 0)):
            folder = tmp_path / f"server-{number}"
            folder.mkdir()
            settings = {"answers_bytes": answers_bytes}
            port = stack.enter_context(serving(folder, database=database_url, settings=settings))
            found.append(Metastore(f"hmstats-{number}", port, 4.0, DATABASE))
            stack.enter_context(found[-1].clients)
        yield found


def answer(ask: Callable[[Any], Any], client: Any) -> Any:
    """What a question is answered with: a value, or the exception."""
    try:
        return ask(client)
    except (api.NoSuchObjectException, api.InvalidObjectException, api.MetaException) as refused:
        return type(refused).__name__


@pytest.mark.slow
def test_every_change_shows_in_every_answer(servers: list[Metastore]) -> None:
    first, second, keeps_nothing = (each.client() for each in servers)
    first.create_database(api.Database(name=DATABASE, description="", parameters={}))
    servers[0].table("t", COLUMNS, keys=["k"])
    servers[0].add_partitions(["1"], ["2"], table="t", columns=COLUMNS)
    seen: dict[str, list[Any]] = {name: [] for name in questions("t")}
    for title, change in CHANGES.items():
        for client in (first, second):
            for ask in questions("t").values():
                answer(ask, client)
        change(first)
        for name, ask in questions("t").items():
            expected = answer(ask, keeps_nothing)
            assert answer(ask, second) == expected, (title, name)
            assert answer(ask, first) == expected, (title, name)
            seen[name].append(expected)
    assert all(any(each != answers[0] for each in answers) for answers in seen.values())
