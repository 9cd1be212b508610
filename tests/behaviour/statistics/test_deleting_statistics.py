"""delete_column_statistics_req: statistics of many columns and partitions deleted at once. Hive has it from 4.1 on."""

from typing import Any

import pytest
from tests.behaviour.structs import of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.wire.idl import hive_metastore as api

A, B, C = "k=a", "k=b", "k=c"


@pytest.fixture(autouse=True)
def _written(our_metastore: Metastore) -> None:
    our_metastore.table(keys=("k",))
    our_metastore.add_partitions(("a",), ("b",), ("c",))
    for engine in ("hive", "impala"):
        _write(our_metastore, engine, None)
        for partition in (A, B):
            _write(our_metastore, engine, partition)


def _write(metastore: Metastore, engine: str, partition: str | None) -> None:
    sent = statistics(metastore, *(statistics_of(column) for column in "lsd"), partition=partition)
    sent.engine = engine
    assert metastore.client().set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=[sent], needMerge=False))


def _delete(metastore: Metastore, **wanted: Any) -> bool:
    request = api.DeleteColumnStatisticsRequest(**({"db_name": metastore.database, "tbl_name": "t"} | wanted))
    return bool(metastore.client().delete_column_statistics_req(request))


def _partitions(metastore: Metastore) -> dict[str, set[str]]:
    found = of_partitions(metastore, [A, B, C], "l", "s", "d", engine="hive")
    return {name: set(columns) for name, columns in found.items()}


def _own(metastore: Metastore) -> str:
    """Which columns the table itself says it has statistics of; its partitions would answer for it."""
    return metastore.parameters()["COLUMN_STATS_ACCURATE"]


def test_some_columns_of_the_table(our_metastore: Metastore) -> None:
    assert _delete(our_metastore, tableLevel=True, col_names=["L", "d", "nope"])
    assert _own(our_metastore) == '{"COLUMN_STATS":{"s":"true"}}'
    assert _partitions(our_metastore) == {A: {"l", "s", "d"}, B: {"l", "s", "d"}}


@pytest.mark.parametrize("columns", [None, []])
def test_all_columns_of_the_table(our_metastore: Metastore, columns: list[str] | None) -> None:
    assert _delete(our_metastore, tableLevel=True, col_names=columns)
    assert _own(our_metastore) == "{}"
    assert set(_partitions(our_metastore)) == {A, B}


def test_some_columns_of_some_partitions(our_metastore: Metastore) -> None:
    assert _delete(our_metastore, part_names=[A, C, "k=nope"], col_names=["l", "s"])
    assert _partitions(our_metastore) == {A: {"d"}, B: {"l", "s", "d"}}
    assert set(of_table(our_metastore, "l", "s", "d")) == {"l", "s", "d"}


@pytest.mark.parametrize("names", [None, []])
def test_all_partitions(our_metastore: Metastore, names: list[str] | None) -> None:
    assert _delete(our_metastore, part_names=names, col_names=["l"])
    assert _partitions(our_metastore) == {A: {"s", "d"}, B: {"s", "d"}}


def test_files_are_looked_at_again_when_statistics_were_deleted(our_metastore: Metastore) -> None:
    """An analysis leaves out files that have not changed, by their fingerprint."""
    mark = {"hmstats.fingerprint": "of an analysis"}
    where = f"thrift://127.0.0.1:{our_metastore.port}", f"{our_metastore.database}.t"
    with client.connect(where[0]) as service:
        service.put_table_parameters(where[1], mark)
        service.put_partition_parameters(where[1], ["k"], {A: mark, B: mark})
    _delete(our_metastore, part_names=[A], col_names=["l"])
    found = our_metastore.client().get_partitions_by_names(our_metastore.database, "t", [A, B])
    assert {each.values[0]: "hmstats.fingerprint" in each.parameters for each in found} == {"a": False, "b": True}
    assert "hmstats.fingerprint" in our_metastore.parameters()
    _delete(our_metastore, tableLevel=True, col_names=["l"])
    assert "hmstats.fingerprint" not in our_metastore.parameters()


def test_of_one_engine(our_metastore: Metastore) -> None:
    _delete(our_metastore, part_names=[A], engine="impala")
    _delete(our_metastore, part_names=[B], engine="hive")
    _delete(our_metastore, tableLevel=True, engine="Impala")
    answering = _partitions(our_metastore)
    assert answering == {A: {"l", "s", "d"}, B: {"l", "s", "d"}}, "what one has lost the other answers"
    _delete(our_metastore, part_names=[A, B], engine="hive")
    assert _partitions(our_metastore) == {B: {"l", "s", "d"}}


def test_what_is_not_there_is_deleted_twice(our_metastore: Metastore) -> None:
    for _ in range(2):
        assert _delete(our_metastore, tableLevel=True, col_names=["l"])
        assert _delete(our_metastore, part_names=[A], col_names=["l"])


def test_a_table_that_is_not_there(our_metastore: Metastore) -> None:
    with pytest.raises(api.NoSuchObjectException, match=f"hive.{our_metastore.database}.nope"):
        _delete(our_metastore, tbl_name="nope", tableLevel=True)
    with pytest.raises(api.InvalidObjectException, match=f"{our_metastore.database}.nope table not found"):
        _delete(our_metastore, tbl_name="nope", part_names=[A])


def test_a_table_of_another_catalog(our_metastore: Metastore) -> None:
    with pytest.raises(api.NoSuchObjectException, match=f"nope.{our_metastore.database}.t"):
        _delete(our_metastore, cat_name="nope", tableLevel=True)
    assert _delete(our_metastore, cat_name="HIVE", db_name=f"@hive#{our_metastore.database}", tableLevel=True)
    assert _own(our_metastore) == "{}"
