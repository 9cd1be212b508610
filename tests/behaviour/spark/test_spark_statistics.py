"""Spark's own parameters of statistics: shown to Spark of what others wrote, and everyone's of what Spark wrote.

A client is Spark that says so by its user or a group (set_ugi). The tests write tables as Spark does: read whole, and
altered whole.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.behaviour.structs import STRUCTS, column_object, of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.client import connect
from hmstats.model.catalog.names import table_name
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.outlets.spark.spark_properties import PREFIX, read, spark_parameters
from hmstats.sketch.quantiles.kll import KllHistogram
from hmstats.wire.idl import hive_metastore as api

SIZES = {"numRows": "9", "totalSize": "4096"}
SHOWN, STATED = "spark.sql.sources.hmstats.shown", "spark.sql.sources.hmstats.stated"
EVERY = sorted(STRUCTS)


def spark(metastore: Metastore) -> Any:
    """A connection that is Spark's."""
    client = metastore.client()
    client.set_ugi("spark", [])
    return client


def filled(metastore: Metastore, size: int = 4096, **parameters: str) -> None:
    """A table with a file: its bytes are counted when the table is altered."""
    metastore.table(parameters=SIZES | parameters)
    place = Path(metastore.read_table().sd.location.removeprefix("file:"))
    (place / "rows.parquet").write_bytes(bytes(size))


def push(metastore: Metastore, *columns: str, table: str = "t", **changed: Any) -> None:
    """Column statistics that are no one's of Spark."""
    objects = [statistics_of(column, **changed) for column in columns]
    assert metastore.client().update_table_column_statistics(statistics(metastore, *objects, table=table))


def seen(metastore: Metastore, client: Any, table: str = "t") -> dict[str, str]:
    """Spark's parameters that a client is shown."""
    return spark_parameters(client.get_table(metastore.database, table).parameters)


def alter(metastore: Metastore, client: Any, change: Callable[[dict[str, str]], None], table: str = "t") -> None:
    """Read a table and write it back, its parameters changed."""
    found = client.get_table(metastore.database, table)
    change(found.parameters)
    client.alter_table_with_environment_context(metastore.database, table, found, None)


def analyze(metastore: Metastore, client: Any, given: dict[str, str], table: str = "t") -> None:
    """What Spark's ANALYZE does: all that it says of a table is new."""

    def change(parameters: dict[str, str]) -> None:
        for key in spark_parameters(parameters):
            del parameters[key]
        parameters.update(given)

    alter(metastore, client, change, table)


def column(name: str, **values: object) -> dict[str, str]:
    """Spark's parameters of one column."""
    return {f"{PREFIX}colStats.{name}.{key}": str(value) for key, value in {"version": 2, **values}.items()}


def totals(rows: int, size: int) -> dict[str, str]:
    """Spark's parameters of the whole table."""
    return {f"{PREFIX}numRows": str(rows), f"{PREFIX}totalSize": str(size)}


def test_spark_is_shown_what_was_pushed(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=SIZES)
    push(our_metastore, *EVERY)
    found = read(seen(our_metastore, spark(our_metastore)))
    assert (found.rows, found.size_bytes, sorted(found.columns)) == (9, 4096, EVERY)
    bounds = {name: (each.low, each.high, each.nulls, each.distinct) for name, each in found.columns.items()}
    assert bounds == {
        "b": ("false", "true", 2, 2),
        "l": (str(-(2**63)), str(2**63 - 1), 0, 5),
        "d": ("-1.5", "1.0E300", 1, 7),
        "s": (None, None, 1, 6),
        "bin": (None, None, 3, None),
        "dec": ("-2.00", "0.3", 0, 4),
        "dt": ("1582-10-14", "2024-10-04", 0, 3),
        "ts": ("1969-12-31 23:59:55.000000", "2023-11-14 22:13:20.000000", 0, 3),
    }
    assert (found.columns["s"].average_length, found.columns["s"].max_length) == (4, 9)


def test_the_request_call_shows_the_same(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=SIZES)
    push(our_metastore, "l")
    client = spark(our_metastore)
    request = api.GetTableRequest(dbName=our_metastore.database, tblName="t")
    assert spark_parameters(client.get_table_req(request).table.parameters) == seen(our_metastore, client) != {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("user", "groups", "shown"),
    [("spark", [], True), ("ada", ["staff", "spark"], True), ("ada", ["sparks"], False), (None, None, False)],
)
def test_a_client_says_who_it_is(
    our_metastore: Metastore, user: str | None, groups: list[str] | None, shown: bool
) -> None:
    our_metastore.table(parameters=SIZES)
    push(our_metastore, "l")
    client = our_metastore.client()
    client.set_ugi(user, groups)
    assert bool(seen(our_metastore, client)) == shown


def test_answers_that_are_kept_are_kept_apart(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=SIZES)
    push(our_metastore, "l")
    of_spark, other = spark(our_metastore), our_metastore.client()
    for _ in range(3):
        assert seen(our_metastore, other) == {}
        assert read(seen(our_metastore, of_spark)).columns["l"].distinct == 5
    push(our_metastore, "l", numDVs=6)
    for _ in range(2):
        assert read(seen(our_metastore, of_spark)).columns["l"].distinct == 6
        assert seen(our_metastore, other) == {}
    other.set_ugi("spark", [])
    assert read(seen(our_metastore, other)).columns["l"].distinct == 6


def test_nothing_is_stored_by_looking_or_writing_back(our_metastore: Metastore) -> None:
    filled(our_metastore)
    push(our_metastore, *EVERY)
    before = our_metastore.parameters()
    del before["COLUMN_STATS_ACCURATE"]  # whoever alters a table may have changed its rows
    client = spark(our_metastore)
    shown = seen(our_metastore, client)
    alter(our_metastore, client, lambda parameters: parameters.update(note="mine"))
    after = our_metastore.parameters()
    assert {**after, "transient_lastDdlTime": ""} == {
        **before,
        "note": "mine",
        "numFiles": "1",
        "transient_lastDdlTime": "",
    }
    assert seen(our_metastore, client) == shown
    push(our_metastore, "l", numDVs=1)
    assert read(seen(our_metastore, client)).columns["l"].distinct == 1


def test_a_view_that_is_old_when_it_is_written_back_is_not_stored(our_metastore: Metastore) -> None:
    filled(our_metastore)
    push(our_metastore, "l")
    client = spark(our_metastore)
    table = client.get_table(our_metastore.database, "t")
    push(our_metastore, "l", numDVs=8)
    client.alter_table_with_environment_context(our_metastore.database, "t", table, None)
    assert spark_parameters(our_metastore.parameters()) == {}
    assert read(seen(our_metastore, client)).columns["l"].distinct == 8
    assert of_table(our_metastore, "l")["l"].longStats.numDVs == 8


def test_a_view_without_its_mark_is_known_all_the_same(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=SIZES)
    push(our_metastore, *EVERY)
    client = spark(our_metastore)

    def forget(parameters: dict[str, str]) -> None:
        del parameters[SHOWN]

    alter(our_metastore, client, forget)
    assert spark_parameters(our_metastore.parameters()) == {}
    assert STATED not in our_metastore.parameters()


def test_what_spark_states_is_everyones(our_metastore: Metastore) -> None:
    our_metastore.table(parameters={"numFiles": "1"})
    given = {
        **totals(10, 777),
        **column("b", distinctCount=1, nullCount=4, min="true", max="true", avgLen=1, maxLen=1),
        **column("l", distinctCount=3, nullCount=0, min=-5, max=7, avgLen=8, maxLen=8),
        **column("d", distinctCount=3, nullCount=0, min="1.0E10", max="Infinity", avgLen=8, maxLen=8),
        **column("s", distinctCount=4, nullCount=1, avgLen=3, maxLen=9),
        **column("bin", distinctCount=4, nullCount=2, avgLen=3, maxLen=9),
        **column("dec", distinctCount=2, nullCount=0, min="-1.25", max="10.00", avgLen=8, maxLen=8),
        **column("dt", distinctCount=2, nullCount=0, min="2002-09-26", max="2020-01-01", avgLen=4, maxLen=4),
        **column(
            "ts", distinctCount=2, nullCount=0, min="1969-12-31 23:59:58.500000", max="1970-01-01 00:00:07.000000"
        ),
    }
    client = our_metastore.client()
    analyze(our_metastore, client, given)
    found = of_table(our_metastore, *EVERY)
    assert sorted(found) == EVERY
    booleans = found["b"].booleanStats
    assert (booleans.numTrues, booleans.numFalses, booleans.numNulls) == (6, 0, 4)
    longs = found["l"].longStats
    assert (longs.lowValue, longs.highValue, longs.numNulls, longs.numDVs) == (-5, 7, 0, 3)
    assert (found["d"].doubleStats.lowValue, found["d"].doubleStats.highValue) == (1e10, float("inf"))
    strings = found["s"].stringStats
    assert (strings.maxColLen, strings.avgColLen, strings.numNulls, strings.numDVs) == (9, 3.0, 1, 4)
    assert (found["bin"].binaryStats.maxColLen, found["bin"].binaryStats.numNulls) == (9, 2)
    assert (found["dec"].decimalStats.lowValue.unscaled, found["dec"].decimalStats.lowValue.scale) == (b"\x83", 2)
    assert found["dt"].dateStats.lowValue.daysSinceEpoch == 11956
    assert (found["ts"].longStats.lowValue, found["ts"].longStats.highValue) == (-2, 7)
    parameters = our_metastore.parameters()
    assert (parameters["numRows"], parameters["totalSize"], spark_parameters(parameters)) == ("10", "777", given)
    assert seen(our_metastore, spark(our_metastore)) == given


def test_it_says_who_made_it(our_metastore: Metastore) -> None:
    our_metastore.table()
    analyze(our_metastore, our_metastore.client(), {**totals(10, 777), **column("l", distinctCount=3)})
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as client:
        (found,) = client.provenance(table_name(our_metastore.database, "t"), ["l"], None)
    assert (found.provenance.tool, found.provenance.exact, found.provenance.rows_seen) == ("Spark ANALYZE", False, 10)


def test_the_newer_counts(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=SIZES)
    client = spark(our_metastore)
    push(our_metastore, "l", "s")
    analyze(our_metastore, client, {**totals(10, 777), **column("l", distinctCount=3)})
    assert of_table(our_metastore, "l")["l"].longStats.numDVs == 3
    found = read(seen(our_metastore, client))
    assert (found.columns["l"].distinct, found.rows, "s" in found.columns) == (3, 10, False)
    push(our_metastore, "l")
    found = read(seen(our_metastore, client))
    assert (found.columns["l"].distinct, found.columns["l"].low) == (5, str(-(2**63)))
    assert read(spark_parameters(our_metastore.parameters())).columns["l"].distinct == 3
    analyze(our_metastore, client, {**totals(11, 778), **column("l", distinctCount=4)})
    assert read(seen(our_metastore, client)).columns["l"].distinct == 4
    assert of_table(our_metastore, "l")["l"].longStats.numDVs == 4


def test_columns_that_spark_only_carries_along_stay_as_they_were_pushed(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=SIZES)
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    sketch = KllHistogram()
    sketch.add(np.arange(9))
    with connect(address) as pushing:
        data = LongStatistics(low=0, high=8, nulls=0, ndv=9, histogram=sketch.to_bytes())
        pushing.put_table_statistics(
            table_name(our_metastore.database, "t"), StatisticsSet((ColumnStatistics("l", "bigint", data),))
        )
    client = spark(our_metastore)
    shown = seen(our_metastore, client)
    assert read(shown).columns["l"].histogram is not None
    analyze(our_metastore, client, {**shown, **column("s", distinctCount=4, nullCount=0, avgLen=2, maxLen=3)})
    with connect(address) as reading:
        assert reading.table(f"{our_metastore.database}.t").quantile("l", [1]).values == (8.0,)
        made = reading.provenance(table_name(our_metastore.database, "t"), ["l", "s"], None)
    assert [(each.column, each.provenance.tool) for each in made] == [("l", None), ("s", "Spark ANALYZE")]
    assert read(seen(our_metastore, client)).columns["l"] == read(shown).columns["l"]


def test_what_is_stated_by_one_who_did_not_see_is_not_taken_for_new(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=SIZES)
    blind = our_metastore.client()
    first = {**totals(9, 4096), **column("l", distinctCount=2, nullCount=0)}
    analyze(our_metastore, blind, first)
    push(our_metastore, "l")
    analyze(our_metastore, blind, {**first, **column("s", distinctCount=4, nullCount=0)})
    assert of_table(our_metastore, "l")["l"].longStats.numDVs == 5
    found = read(seen(our_metastore, spark(our_metastore)))
    assert (found.columns["l"].distinct, found.columns["s"].distinct) == (5, 4)


@pytest.mark.parametrize("is_shown", [True, False])
@pytest.mark.slow
def test_spark_says_that_the_data_has_changed(our_metastore: Metastore, is_shown: bool) -> None:
    """Spark's INSERT drops its parameters: its own statistics are gone, pushed ones are not for Spark any more."""
    filled(our_metastore)
    writer = spark(our_metastore) if is_shown else our_metastore.client()
    push(our_metastore, "l", "d")
    analyze(our_metastore, writer, {**seen(our_metastore, writer), **totals(10, 777), **column("s", distinctCount=4)})
    analyze(our_metastore, writer, {})
    assert sorted(of_table(our_metastore, *EVERY)) == ["d", "l"]
    assert seen(our_metastore, spark(our_metastore)) == spark_parameters(our_metastore.parameters()) == {}
    assert "COLUMN_STATS_ACCURATE" not in our_metastore.parameters()
    found = our_metastore.parameters()
    assert ("numRows" in found, found["numFiles"], found["totalSize"]) == (False, "1", "4096")
    time.sleep(1.1)  # the metastore's times are whole seconds
    push(our_metastore, "l")
    alter(our_metastore, our_metastore.client(), lambda parameters: parameters.update(SIZES))
    assert sorted(read(seen(our_metastore, spark(our_metastore))).columns) == ["l"]


def test_another_size_alone_says_that_the_rows_are_others(our_metastore: Metastore) -> None:
    """ANALYZE NOSCAN, and INSERT when Spark is told to follow sizes."""
    filled(our_metastore, 5000, COLUMN_STATS_ACCURATE='{"BASIC_STATS":"true"}')
    client = spark(our_metastore)
    push(our_metastore, "l")
    analyze(our_metastore, client, {f"{PREFIX}totalSize": "5000"})
    found = our_metastore.parameters()
    assert ("numRows" in found, found["totalSize"]) == (False, "5000")
    assert "COLUMN_STATS_ACCURATE" not in found
    assert seen(our_metastore, client) == {f"{PREFIX}totalSize": "5000"}
    alter(our_metastore, our_metastore.client(), lambda parameters: parameters.update(numRows="9"))
    analyze(our_metastore, client, {f"{PREFIX}totalSize": "5000", **column("s", distinctCount=1)})
    assert our_metastore.parameters()["numRows"] == "9"


def test_what_spark_wrote_is_not_marked_as_accurate(our_metastore: Metastore) -> None:
    accurate = json.dumps({"BASIC_STATS": "true", "COLUMN_STATS": {"l": "true", "s": "true"}}, separators=(",", ":"))
    our_metastore.table(parameters={**SIZES, "COLUMN_STATS_ACCURATE": accurate})
    table = our_metastore.read_table()
    table.parameters |= {**totals(10, 4096), **column("l", distinctCount=4)}
    as_given = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
    our_metastore.client().alter_table_with_environment_context(our_metastore.database, "t", table, as_given)
    assert our_metastore.parameters()["COLUMN_STATS_ACCURATE"] == '{"COLUMN_STATS":{"s":"true"}}'
    analyze(our_metastore, our_metastore.client(), {**totals(10, 4096), **column("l", distinctCount=5)})
    assert "COLUMN_STATS_ACCURATE" not in our_metastore.parameters()


def test_a_partitioned_table_is_shown_what_its_partitions_say(our_metastore: Metastore) -> None:
    our_metastore.table(keys=("k",))
    client = our_metastore.client()
    new = [our_metastore.partition(each) for each in ("a", "b")]
    for partition in new:
        partition.parameters = {"numRows": "9", "totalSize": "100"}
    client.add_partitions(new)
    for name in ("k=a", "k=b"):
        sent = statistics(our_metastore, statistics_of("l", lowValue=1, highValue=4), partition=name)
        client.update_partition_column_statistics(sent)
    reader = spark(our_metastore)
    found = read(seen(our_metastore, reader))
    assert (found.rows, found.size_bytes, found.columns["l"].low, found.columns["l"].high) == (18, 200, "1", "4")
    alter(our_metastore, reader, lambda parameters: parameters.update(note="mine"))
    assert spark_parameters(our_metastore.parameters()) == {}
    assert of_table(our_metastore, "l")["l"].longStats.highValue == 4


def test_rows_and_bytes_of_a_partition_are_everyones(our_metastore: Metastore) -> None:
    our_metastore.table(keys=("k",))
    our_metastore.add_partitions(("a",))
    client = our_metastore.client()
    partition = client.get_partition(our_metastore.database, "t", ["a"])
    partition.parameters.update(totals(5, 55))
    client.alter_partitions(our_metastore.database, "t", [partition])
    found = client.get_partition(our_metastore.database, "t", ["a"]).parameters
    assert (found["numRows"], found["totalSize"]) == ("5", "55")
    found["numRows"] = "6"
    client.alter_partitions(our_metastore.database, "t", [our_metastore.partition("a")])
    partition.parameters = found
    client.alter_partition(our_metastore.database, "t", partition)
    assert spark_parameters(client.get_partition(our_metastore.database, "t", ["a"]).parameters) == totals(5, 55)


def test_spark_is_shown_its_own_case_of_names(our_metastore: Metastore) -> None:
    schema = json.dumps({"type": "struct", "fields": [{"name": "PricE", "type": "long"}]})
    our_metastore.table(columns={"price": "bigint"}, parameters={**SIZES, "spark.sql.sources.schema": schema})
    data = column_object("price", "bigint", "longStats", api.LongColumnStatsData(1, 2, 0, 2))
    our_metastore.client().update_table_column_statistics(statistics(our_metastore, data))
    client = spark(our_metastore)
    assert sorted(read(seen(our_metastore, client)).columns) == ["PricE"]
    analyze(our_metastore, client, {**totals(9, 4096), **column("PricE", distinctCount=7, nullCount=0)})
    assert of_table(our_metastore, "price")["price"].longStats.numDVs == 7


def test_without_a_size_nothing_is_shown(our_metastore: Metastore) -> None:
    """Spark fails to load a table that has statistics, and no size."""
    our_metastore.table(parameters={"numRows": "9"})
    push(our_metastore, "l")
    assert seen(our_metastore, spark(our_metastore)) == {}


def test_a_table_that_is_made_brings_its_statistics(our_metastore: Metastore) -> None:
    given = {**totals(10, 777), **column("l", distinctCount=3)}
    our_metastore.table(parameters=given)
    assert of_table(our_metastore, "l")["l"].longStats.numDVs == 3
    assert spark_parameters(our_metastore.parameters()) == given


def test_a_table_made_like_one_that_was_shown_has_none(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=SIZES)
    push(our_metastore, "l")
    client = spark(our_metastore)
    table = client.get_table(our_metastore.database, "t")
    table.tableName = "other"
    client.create_table(table)
    found = our_metastore.parameters("other")
    assert (spark_parameters(found), SHOWN in found, STATED in found) == ({}, False, False)
    assert of_table(our_metastore, "l", table="other") == {}


def test_a_renamed_table_keeps_both(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=SIZES)
    push(our_metastore, "d")
    client = spark(our_metastore)
    analyze(our_metastore, client, {**seen(our_metastore, client), **column("l", distinctCount=3)})
    before = seen(our_metastore, client)
    table = client.get_table(our_metastore.database, "t")
    table.tableName = "u"
    client.alter_table_with_environment_context(our_metastore.database, "t", table, None)
    assert seen(our_metastore, client, "u") == before
    assert sorted(of_table(our_metastore, *EVERY, table="u")) == ["d", "l"]


def test_parameters_that_nobody_understands_are_kept(our_metastore: Metastore) -> None:
    given = {
        **totals(10, 777),
        **column("l", distinctCount="many", nullCount=-1, min="x", histogram="?"),
        **column("nowhere", distinctCount=4),
        f"{PREFIX}later": "1",
    }
    our_metastore.table()
    analyze(our_metastore, our_metastore.client(), given)
    assert spark_parameters(our_metastore.parameters()) == given
    assert sorted(of_table(our_metastore, *EVERY)) == ["l"]
    assert seen(our_metastore, spark(our_metastore)) == given


@pytest.mark.parametrize(("setting", "shown"), [("never", (False, False)), ("always", (True, True))])
@pytest.mark.slow
def test_a_setting_says_who_is_shown(tmp_path: Path, setting: str, shown: tuple[bool, bool]) -> None:
    with serving(tmp_path, settings={"spark_statistics": setting, "spark_names": "glow, shine"}) as port:
        metastore = Metastore("hmstats-sqlite", port, 4.0)
        with metastore.clients:
            metastore.client().create_database(api.Database(name=metastore.database, description="", parameters={}))
            filled(metastore)
            push(metastore, "l")
            named = metastore.client()
            named.set_ugi("shine", [])
            found = tuple(bool(seen(metastore, each)) for each in (named, metastore.client()))
            assert found == shown
            alter(metastore, metastore.client(), lambda parameters: parameters.update(note="mine"))
            assert spark_parameters(metastore.client().get_table(metastore.database, "t").parameters).keys() == (
                seen(metastore, named).keys()
            )
            push(metastore, "l", numDVs=6)
            assert (read(seen(metastore, named)).columns.get("l") is not None) == shown[0]
