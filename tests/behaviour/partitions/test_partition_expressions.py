"""Partitions found and dropped by the serialised conditions of Hive 2.3, 3.1 and 4, over the API."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

WRITTEN = Path(__file__).resolve().parents[2] / "testdata" / "hive-expressions"
GENERATIONS = ("2.3", "3.1", "4.0")
NULL = "__HIVE_DEFAULT_PARTITION__"


def condition(generation: str, sql: str) -> bytes:
    """The bytes that a generation's Hive wrote for a condition over `region string, y int`."""
    lines = map(json.loads, (WRITTEN / f"{generation}.jsonl").read_text().splitlines())
    return base64.b64decode(next(each["bytes"] for each in lines if each["sql"] == sql))


@pytest.fixture(autouse=True)
def _sales(our_metastore: Metastore) -> None:
    our_metastore.table("sales", keys=("region", "y int"))
    our_metastore.add_partitions(
        ("eu", "2019"), ("eu", "2020"), ("us", "02020"), (NULL, "2021"), ("asia", "x"), table="sales"
    )


def request(metastore: Metastore, sql: str, generation: str = "4.0", **more: Any) -> Any:
    """A request for the partitions of `sales` that a condition wants."""
    expression = condition(generation, sql) if sql else b""
    return api.PartitionsByExprRequest(dbName=metastore.database, tblName="sales", expr=expression, **more)


def values_by(metastore: Metastore, asked: Any) -> tuple[list[list[str]], bool]:
    """The values of the partitions that a request wants, the same by every call, and whether any was unknown."""
    client = metastore.client()
    found = client.get_partitions_by_expr(asked)
    listed = [each.values for each in found.partitions]
    names = client.get_partition_names_req(asked)
    assert [[each.split("=", 1)[1] for each in name.split("/")] for name in names] == listed
    specified = client.get_partitions_spec_by_expr(asked)
    assert specified.hasUnknownPartitions is found.hasUnknownPartitions
    (specification,) = specified.partitionsSpec
    assert [each.values for each in specification.partitionList.partitions] == listed
    return listed, found.hasUnknownPartitions


@pytest.mark.parametrize("generation", GENERATIONS)
def test_values_are_compared_as_their_type(our_metastore: Metastore, generation: str) -> None:
    found, unknown = values_by(our_metastore, request(our_metastore, "y = 2020", generation))
    assert (found, unknown) == ([["asia", "x"], ["eu", "2020"], ["us", "02020"]], True)  # x may be any number
    found, unknown = values_by(our_metastore, request(our_metastore, "region = 'eu' AND y = 2020", generation))
    assert (found, unknown) == ([["eu", "2020"]], False)


def test_a_null_key_is_not_wanted_unless_it_is_asked_for(our_metastore: Metastore) -> None:
    assert values_by(our_metastore, request(our_metastore, "region IS NULL")) == ([[NULL, "2021"]], False)
    found, unknown = values_by(our_metastore, request(our_metastore, "region <> 'eu'"))
    assert (found, unknown) == ([["asia", "x"], ["us", "02020"]], False)


def test_the_caller_says_how_a_null_is_written(our_metastore: Metastore) -> None:
    asked = request(our_metastore, "region IS NULL", defaultPartitionName="asia")
    assert values_by(our_metastore, asked) == ([["asia", "x"]], False)


def test_no_more_partitions_than_asked_for(our_metastore: Metastore) -> None:
    found, _ = values_by(our_metastore, request(our_metastore, "region = 'eu'", maxParts=1))
    assert found == [["eu", "2019"]]
    assert values_by(our_metastore, request(our_metastore, "region = 'eu'", maxParts=0)) == ([], False)


def test_names_come_in_the_order_of_keys(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    falling = client.get_partition_names_req(request(our_metastore, "region IS NOT NULL", order="1,0:-+"))
    assert falling == ["region=asia/y=x", "region=eu/y=2020", "region=us/y=02020", "region=eu/y=2019"]
    for nothing in (b"", b"\xff"):
        first = request(our_metastore, "", order="1:+", maxParts=1)
        first.expr = nothing
        assert client.get_partition_names_req(first) == ["region=eu/y=2019"]
    with pytest.raises(api.MetaException, match="must be indexes of keys with"):
        client.get_partition_names_req(request(our_metastore, "", order="7:+"))
    with pytest.raises(api.MetaException, match="must be indexes of keys with"):
        client.get_partition_names_req(request(our_metastore, "", order="\N{SUPERSCRIPT ONE}:+"))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_partitions_are_dropped_by_condition(our_metastore: Metastore, generation: str) -> None:
    client = our_metastore.client()
    wanted = [api.DropPartitionsExpr(expr=condition(generation, "region = 'eu' AND y = 2020"))]
    drop = api.DropPartitionsRequest(
        dbName=our_metastore.database, tblName="sales", parts=api.RequestPartsSpec(exprs=wanted), ifExists=False
    )
    assert [each.values for each in client.drop_partitions_req(drop).partitions] == [["eu", "2020"]]
    with pytest.raises(api.NoSuchObjectException, match="Some partitions to drop are missing"):
        client.drop_partitions_req(drop)
    assert len(client.get_partition_names(our_metastore.database, "sales", -1)) == 4


def test_an_unknown_condition_is_an_unknown_call_for_reads_and_a_sentence_for_drops(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    asked = request(our_metastore, "region RLIKE '^[a-e]'")
    for ask in (client.get_partitions_by_expr, client.get_partitions_spec_by_expr):
        with pytest.raises(TApplicationException, match="GenericUDFRegExp") as refused:
            ask(asked)
        assert refused.value.type == TApplicationException.UNKNOWN_METHOD  # Hive's clients then look themselves
    with pytest.raises(api.MetaException, match="GenericUDFRegExp"):  # they cannot here
        client.get_partition_names_req(asked)
    drop = api.DropPartitionsRequest(
        dbName=our_metastore.database,
        tblName="sales",
        parts=api.RequestPartsSpec(exprs=[api.DropPartitionsExpr(expr=asked.expr)]),
    )
    with pytest.raises(api.MetaException, match=r"must be named or found by values.*GenericUDFRegExp"):
        client.drop_partitions_req(drop)
    assert len(client.get_partition_names(our_metastore.database, "sales", -1)) == 5


def test_nothing_is_dropped_where_a_partition_is_unknown(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    wanted = [api.DropPartitionsExpr(expr=condition("4.0", "y = 2020"))]
    drop = api.DropPartitionsRequest(
        dbName=our_metastore.database, tblName="sales", parts=api.RequestPartsSpec(exprs=wanted)
    )
    with pytest.raises(api.MetaException, match=r"Unexpected unknown partitions to drop.*region=asia/y=x"):
        client.drop_partitions_req(drop)
    client.drop_partition(our_metastore.database, "sales", ["asia", "x"], False)
    dropped = [each.values for each in client.drop_partitions_req(drop).partitions]
    assert dropped == [["eu", "2020"], ["us", "02020"]]
