"""Statistics that a new table, or new partitions, bring along: Hive 4 stores them, older ones do not know the field."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.behaviour.structs import of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import COLUMNS, Metastore

from hmstats.wire.idl import hive_metastore as api

Add = Callable[[Metastore, list[Any]], object]
NONE: dict[str, Any] = {}


def new_table(metastore: Metastore, *objects: Any, **changed: Any) -> Any:
    """A table's struct with statistics."""
    return api.Table(
        tableName="t",
        dbName=metastore.database,
        owner="tester",
        sd=metastore.storage(COLUMNS),
        partitionKeys=[],
        parameters={},
        tableType="MANAGED_TABLE",
        colStats=statistics(metastore, *objects),
        **changed,
    )


def create(metastore: Metastore, table: Any) -> None:
    metastore.client().create_table(table)


def create_by_request(metastore: Metastore, table: Any) -> None:
    metastore.client().create_table_req(api.CreateTableRequest(table=table))


def create_with_constraints(metastore: Metastore, table: Any) -> None:
    metastore.client().create_table_with_constraints(table, [], [], [], [], [], [])


@pytest.mark.parametrize("make", [create, create_by_request, create_with_constraints])
def test_a_new_table_has_the_statistics_that_it_brings(
    metastore: Metastore, make: Callable[[Metastore, Any], None]
) -> None:
    if metastore.generation < 4 and make is not create:
        pytest.skip("the call came with Hive 4, or asks for other arguments before it")
    objects = [statistics_of("l"), statistics_of("s")]
    make(metastore, new_table(metastore, *objects))
    expected = {each.colName: each.statsData for each in objects}
    assert of_table(metastore, "l", "s", "d") == metastore.expects(expected, {"hive-2.3": NONE, "hive-3.1": NONE})


def new_partition(metastore: Metastore, value: str, *objects: Any) -> Any:
    """A partition's struct with statistics."""
    found = metastore.partition(value)
    found.colStats = statistics(metastore, *objects, partition=f"day={value}")
    return found


def add_one_by_one(metastore: Metastore, new: list[Any]) -> None:
    for each in new:
        metastore.client().add_partition(each)


def add_together(metastore: Metastore, new: list[Any]) -> None:
    assert metastore.client().add_partitions(new) == len(new)


def add_by_request(metastore: Metastore, new: list[Any]) -> None:
    wanted = api.AddPartitionsRequest(dbName=metastore.database, tblName="t", parts=new, ifNotExists=True)
    assert metastore.client().add_partitions_req(wanted).partitions is not None


@pytest.mark.parametrize("add", [add_one_by_one, add_together, add_by_request])
def test_new_partitions_have_the_statistics_that_they_bring(metastore: Metastore, add: Add) -> None:
    metastore.table("t", keys=["day"])
    objects = [statistics_of("l"), statistics_of("s")]
    without = metastore.partition("3")
    add(metastore, [new_partition(metastore, "1", *objects), new_partition(metastore, "2", objects[0]), without])
    expected = {"day=1": {each.colName: each.statsData for each in objects}, "day=2": {"l": objects[0].statsData}}
    found = of_partitions(metastore, ["day=1", "day=2", "day=3"], "l", "s")
    assert found == metastore.expects(expected, {"hive-2.3": NONE, "hive-3.1": NONE})


def test_a_partition_that_exists_gets_the_statistics_too(metastore: Metastore) -> None:
    metastore.table("t", keys=["day"])
    add_together(metastore, [new_partition(metastore, "1", statistics_of("l", numDVs=1))])
    again = [new_partition(metastore, each, statistics_of("l", numDVs=2)) for each in ("1", "2")]
    add_by_request(metastore, again)
    found = of_partitions(metastore, ["day=1", "day=2"], "l")
    distinct = {name: columns["l"].longStats.numDVs for name, columns in found.items()}
    assert distinct == metastore.expects({"day=1": 2, "day=2": 2}, {"hive-2.3": NONE, "hive-3.1": NONE})


def test_statistics_of_a_column_that_a_new_table_does_not_have(metastore: Metastore) -> None:
    missing = statistics_of("l")
    missing.colName = "absent"
    if metastore.generation < 4:
        create(metastore, new_table(metastore, missing))
        return
    with pytest.raises(api.MetaException, match="absent"):
        create(metastore, new_table(metastore, missing))
    there = metastore.client().get_all_tables(metastore.database)
    assert there == metastore.expects([], {"hive-4.0": ["t"]})
