"""Tables whose columns the metastore has as Spark's stub: their statistics are of the columns in Spark's schema.

A real Hive Metastore knows the stub alone, and refuses statistics of any other column.
"""

import json
from contextlib import nullcontext
from typing import Any

import pytest
from tests.behaviour.structs import TYPES, of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats import client as our_client
from hmstats.client.tables.describe import describe
from hmstats.client.tables.stored_statistics import own_statistics, statistics_columns
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import Column
from hmstats.outlets.arrow.read import statistics as read
from hmstats.wire.idl import hive_metastore as api

STUB = {"col": "array<string>"}
SPARK_TYPES = {"boolean": "boolean", "bigint": "long", "double": "double", "string": "string", "binary": "binary"}
SCHEMA = "spark.sql.sources.schema"


def schema(columns: dict[str, str], keys: tuple[str, ...] = (), part: int = 100) -> dict[str, str]:
    """Spark's parameters of a table of CSV files, the schema in parts."""
    fields = [
        {"name": name, "type": SPARK_TYPES.get(type_, type_), "nullable": True, "metadata": {}}
        for name, type_ in {**columns, **dict.fromkeys(keys, "string")}.items()
    ]
    text = json.dumps({"type": "struct", "fields": fields})
    parts = [text[start : start + part] for start in range(0, len(text), part)]
    named = {f"{SCHEMA}.part.{place}": each for place, each in enumerate(parts)}
    of_keys = {f"{SCHEMA}.partCol.{place}": key for place, key in enumerate(keys)}
    counts = {f"{SCHEMA}.numParts": str(len(parts)), f"{SCHEMA}.numPartCols": str(len(keys))}
    return {"spark.sql.sources.provider": "csv", **named, **of_keys, **counts}


def address(metastore: Metastore) -> str:
    return f"thrift://127.0.0.1:{metastore.port}"


def push(metastore: Metastore, *columns: str, **changed: Any) -> None:
    objects = [statistics_of(column) for column in columns]
    assert metastore.client().update_table_column_statistics(statistics(metastore, *objects, **changed))


def test_get_table_answers_what_is_stored(our_metastore: Metastore) -> None:
    our_metastore.table(columns=STUB, parameters=schema(TYPES))
    found = our_metastore.read_table()
    assert [(each.name, each.type) for each in found.sd.cols] == [("col", "array<string>")]
    fields = our_metastore.client().get_fields(our_metastore.database, "t")
    assert [each.name for each in fields] == ["col"]


def test_statistics_of_sparks_columns_are_accepted_and_answered(our_metastore: Metastore) -> None:
    our_metastore.table(columns=STUB, parameters=schema(TYPES))
    push(our_metastore, *TYPES)
    assert set(of_table(our_metastore, *TYPES)) == set(TYPES)


def test_statistics_of_partitions_are_too_and_are_aggregated(our_metastore: Metastore) -> None:
    our_metastore.table(columns=STUB, keys=("Month",), parameters=schema({"l": "bigint"}, ("Month",)))
    our_metastore.add_partitions(("1",), ("2",), columns=STUB)
    client = our_metastore.client()
    for name, low in (("month=1", 5), ("month=2", 3)):
        column = statistics_of("l", lowValue=low, highValue=10)
        assert client.update_partition_column_statistics(statistics(our_metastore, column, partition=name))
    request = api.PartitionsStatsRequest(
        dbName=our_metastore.database, tblName="t", colNames=["l"], partNames=["month=1", "month=2"]
    )
    found = client.get_aggr_stats_for(request)
    assert found.partsFound == 2
    assert found.colStats[0].statsData.longStats.lowValue == 3


def test_a_column_that_is_in_neither_is_refused(our_metastore: Metastore) -> None:
    our_metastore.table(columns=STUB, parameters=schema({"l": "bigint"}))
    with pytest.raises(api.MetaException, match="Column s doesn't exist"):
        push(our_metastore, "s")


def test_a_column_of_another_type_is_refused(our_metastore: Metastore) -> None:
    our_metastore.table(columns=STUB, parameters=schema({"l": "string"}))
    with pytest.raises(api.InvalidInputException, match="is of type string"):
        push(our_metastore, "l")


def test_a_real_hive_knows_the_stub_alone(metastore: Metastore) -> None:
    refused = (api.MetaException, api.NoSuchObjectException, api.InvalidObjectException)
    metastore.table(columns=STUB, parameters=schema({"l": "bigint"}))
    with nullcontext() if metastore.ours else pytest.raises(refused):
        push(metastore, "l")


def test_a_column_that_spark_drops_loses_its_statistics(our_metastore: Metastore) -> None:
    our_metastore.table(columns=STUB, parameters=schema({"l": "bigint", "s": "string"}))
    push(our_metastore, "l", "s")
    client = our_metastore.client()
    found = client.get_table(our_metastore.database, "t")
    others = {key: text for key, text in found.parameters.items() if not key.startswith(SCHEMA)}
    found.parameters = {**others, **schema({"l": "bigint", "d": "double"})}
    client.alter_table(our_metastore.database, "t", found)
    assert set(of_table(our_metastore, "l", "s", "d")) == {"l"}


def test_a_table_that_spark_writes_back_keeps_its_statistics(our_metastore: Metastore) -> None:
    our_metastore.table(columns=STUB, parameters=schema({"l": "bigint"}))
    push(our_metastore, "l")
    client = our_metastore.client()
    client.alter_table(our_metastore.database, "t", client.get_table(our_metastore.database, "t"))
    assert set(of_table(our_metastore, "l")) == {"l"}


def test_a_table_that_becomes_one_of_sparks_keeps_what_is_the_same(our_metastore: Metastore) -> None:
    our_metastore.table(columns={"l": "bigint", "s": "string"}, keys=("k",))
    our_metastore.add_partitions(("1",), columns={"l": "bigint", "s": "string"})
    client = our_metastore.client()
    objects = [statistics_of("l"), statistics_of("s")]
    assert client.update_partition_column_statistics(statistics(our_metastore, *objects, partition="k=1"))
    found = client.get_table(our_metastore.database, "t")
    found.sd.cols = our_metastore.storage(STUB).cols
    found.parameters.update(schema({"l": "bigint", "n": "timestamp_ntz"}, ("k",)))
    client.alter_table(our_metastore.database, "t", found)
    request = api.PartitionsStatsRequest(
        dbName=our_metastore.database, tblName="t", colNames=["l", "s"], partNames=["k=1"]
    )
    answered = client.get_partitions_statistics_req(request).partStats
    assert [each.colName for each in answered["k=1"]] == ["l"]


def test_spark_is_shown_statistics_of_its_own_columns(our_metastore: Metastore) -> None:
    columns = {"L": "bigint", "s": "string"}
    our_metastore.table(columns=STUB, parameters={**schema(columns), "numRows": "9", "totalSize": "4096"})
    push(our_metastore, "l")
    client = our_metastore.client()
    client.set_ugi("spark", [])
    shown = client.get_table(our_metastore.database, "t").parameters
    assert shown["spark.sql.statistics.colStats.L.distinctCount"] == "5"
    client.alter_table_with_environment_context(
        our_metastore.database, "t", _analyzed(client, our_metastore, "s", distinctCount="3", nullCount="0"), None
    )
    assert of_table(our_metastore, "s")["s"].stringStats.numDVs == 3


def _analyzed(client: Any, metastore: Metastore, column: str, **values: str) -> Any:
    found = client.get_table(metastore.database, "t")
    said = {f"spark.sql.statistics.colStats.{column}.{key}": value for key, value in values.items()}
    found.parameters.update(
        {
            **said,
            f"spark.sql.statistics.colStats.{column}.version": "2",
            f"spark.sql.statistics.colStats.{column}.maxLen": "4",
            f"spark.sql.statistics.colStats.{column}.avgLen": "3",
        }
    )
    return found


def test_the_client_sees_sparks_columns(our_metastore: Metastore) -> None:
    columns = {**TYPES, "nested": "void"}
    our_metastore.table(columns=STUB, parameters={**schema(columns), "numRows": "9"})
    push(our_metastore, "l", "s")
    with our_client.connect(address(our_metastore)) as service:
        table = service.existing_table(f"{our_metastore.database}.t")
        assert statistics_columns(table) == list(TYPES)
        assert [each.column for each in own_statistics(service, table).statistics.columns] == ["l", "s"]
        assert own_statistics(service, table).table_statistics().columns == tuple(
            Column(*each) for each in columns.items()
        )
        asked = service.table(f"{our_metastore.database}.t")
        assert asked.distinct("l").count == 5
        with pytest.raises(StatementError, match="column col must be one of"):
            asked.bounds("col")
        text = describe(service, f"DESCRIBE FORMATTED {our_metastore.database}.t l")
        assert "distinct_count      \t5" in text
        lines = describe(service, f"DESCRIBE {our_metastore.database}.t").splitlines()
        assert [line.split()[:2] for line in lines if line.strip()] == [list(each) for each in columns.items()]


def test_arrow_statistics_are_of_sparks_columns(our_metastore: Metastore) -> None:
    our_metastore.table(columns=STUB, parameters={**schema({"s": "string", "l": "bigint"}), "numRows": "9"})
    push(our_metastore, "l")
    with our_client.connect(address(our_metastore)) as service:
        table = service.existing_table(f"{our_metastore.database}.t")
        found = list(service.arrow_statistics(table.name))
    facts = {(each.column, each.name): each.value for batch in found for each in read(batch)}
    assert (facts[0, "HMSTATS:column_name"], facts[1, "HMSTATS:column_name"]) == ("s", "l")
    assert facts[1, "ARROW:distinct_count:approximate"] == 5.0
