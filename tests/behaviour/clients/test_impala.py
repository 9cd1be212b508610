"""Impala's catalogd: its calls in their order, and what it makes of the answers.

What it calls was read in CatalogOpExecutor, TableLoader, MetastoreShim and their neighbours. Shims for Hive 3.1.3000
and 4 name the engine `impala` in every call for statistics; the shim for Hive 2 and 3 has no engine.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.behaviour.structs import STRUCTS, column_object
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

COLUMNS = {"id": "bigint", "name": "string", "paid": "boolean", "price": "decimal(10,2)", "at": "timestamp"}
DAYS = [f"day={number}" for number in range(1, 8)]
MARKERS = {"impala.events.catalogServiceId": "7f:3a", "impala.events.catalogVersion": "42"}
"""With these catalogd knows its own changes again in the log."""
CHUNK = "H4sIAAAA/+" * 400
"""A piece of its own intermediate statistics: 4,000 characters, the longest it writes."""


def _engine(metastore: Metastore) -> str | None:
    return "impala" if metastore.generation >= 4 else None


def _load(metastore: Metastore, name: str = "sales") -> Any:
    """The table as catalogd loads it, by the request that names the INSERT_ONLY capability."""
    can = api.ClientCapabilities(values=[api.ClientCapability.INSERT_ONLY_TABLES])
    request = api.GetTableRequest(dbName=metastore.database, tblName=name, capabilities=can)
    return metastore.client().get_table_req(request).table


def _statistics(metastore: Metastore, *columns: str, name: str = "sales") -> dict[str, Any]:
    """Of each column its statistics; asked for once, all columns together."""
    request = api.TableStatsRequest(
        dbName=metastore.database, tblName=name, colNames=list(columns), engine=_engine(metastore)
    )
    found = metastore.client().get_table_statistics_req(request).tableStats
    return {each.colName: each.statsData for each in found}


def _partitions(metastore: Metastore, name: str = "sales", batch: int = 3) -> list[Any]:
    """All names, then the partitions in batches."""
    client = metastore.client()
    names = client.get_partition_names(metastore.database, name, -1)
    batches = [names[start : start + batch] for start in range(0, len(names), batch)]
    return [each for some in batches for each in client.get_partitions_by_names(metastore.database, name, some)]


def _alter_partitions(metastore: Metastore, changed: dict[str, str], without: Sequence[str] = ()) -> None:
    """Every partition with more parameters, in batches, whether it changed or not."""
    found = _partitions(metastore)
    for each in found:
        kept = {key: value for key, value in each.parameters.items() if key not in without}
        each.parameters = kept | changed
    for start in range(0, len(found), 5):
        metastore.client().alter_partitions(metastore.database, "sales", found[start : start + 5])


def _alter(metastore: Metastore, table: Any) -> None:
    context = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
    client = metastore.client()
    client.alter_table_with_environment_context(metastore.database, table.tableName, table, context)


@pytest.fixture
def sales(metastore: Metastore) -> Metastore:
    """A table of seven days, as CREATE TABLE and ADD PARTITION make it."""
    metastore.table("sales", COLUMNS, keys=("day",), parameters={"impala.x": "1"} | MARKERS)
    request = api.AddPartitionsRequest(
        dbName=metastore.database,
        tblName="sales",
        parts=[metastore.partition(day.split("=")[1], table="sales", columns=COLUMNS) for day in DAYS],
        ifNotExists=True,
        needResult=True,
    )
    added = metastore.client().add_partitions_req(request).partitions
    assert [each.values for each in added] == [[day.split("=")[1]] for day in DAYS]
    return metastore


def test_starting(metastore: Metastore) -> None:
    """Where in the log it starts, then every database, its functions and the names of its tables."""
    metastore.table("sales", COLUMNS)
    client = metastore.client()
    assert client.set_ugi("impala", ["impala"]) == ["impala"] or metastore.flavour.startswith("hive")
    if metastore.ours:  # Hive has a log where it is told to
        assert client.get_current_notificationEventId().eventId >= 0
    assert metastore.database in client.get_all_databases()
    assert client.get_database(metastore.database).name == metastore.database
    assert client.get_functions(metastore.database, "*") == []
    assert client.get_all_tables(metastore.database) == ["sales"]
    (meta,) = client.get_table_meta(metastore.database, "*", None)
    assert (meta.dbName, meta.tableName, meta.tableType) == (metastore.database, "sales", _load(metastore).tableType)


def test_loading_a_table(sales: Metastore) -> None:
    table = _load(sales)
    assert [(each.name, each.type) for each in table.sd.cols] == list(COLUMNS.items())
    assert {key: table.parameters[key] for key in MARKERS} == MARKERS
    assert _statistics(sales, *COLUMNS) == {}
    assert [f"day={each.values[0]}" for each in _partitions(sales)] == DAYS
    client = sales.client()
    keys = api.PrimaryKeysRequest(db_name=sales.database, tbl_name="sales")
    assert client.get_primary_keys(keys).primaryKeys == []
    foreign = api.ForeignKeysRequest(foreign_db_name=sales.database, foreign_tbl_name="sales")
    assert client.get_foreign_keys(foreign).foreignKeys == []


def test_compute_stats(sales: Metastore) -> None:
    """Columns of the whole table, then all partitions' rows, then the table's parameters."""
    _compute_stats(sales)
    table = _load(sales)
    assert {key: table.parameters.get(key) for key in ("numRows", "totalSize")} == {
        "numRows": "700",
        "totalSize": "9000",
    }
    assert table.parameters["impala.lastComputeStatsTime"] == "1700000000"
    assert "COLUMN_STATS_ACCURATE" not in table.parameters
    assert {key: table.parameters[key] for key in MARKERS} == MARKERS
    for each in _partitions(sales):
        assert each.parameters["numRows"] == "100"
        assert each.parameters["impala_intermediate_stats_chunk0"] == CHUNK
        assert "COLUMN_STATS_ACCURATE" not in each.parameters


def test_statistics_as_they_were_written(sales: Metastore) -> None:
    """A column without statistics blanks no other. Impala reads a timestamp's longStats; Hive 4 has none for it."""
    _compute_stats(sales)
    found = _statistics(sales, *COLUMNS)
    assert set(found) == set(COLUMNS)
    assert found["id"].longStats.numDVs == 5
    assert found["name"].stringStats.avgColLen == 3.25
    at = found["at"].timestampStats if sales.flavour == "hive-4.0" else found["at"].longStats
    assert (at.lowValue, at.highValue, at.numDVs) == (None, None, 3)
    assert (found["paid"].booleanStats.numTrues, found["paid"].booleanStats.numFalses) == (3, 4)
    assert set(_statistics(sales, "id", "day", "nope")) == {"id"}


def test_a_column_whose_nulls_are_unknown(sales: Metastore) -> None:
    """Older versions count no nulls."""
    _write(sales, column_object("id", "bigint", "longStats", api.LongColumnStatsData(numNulls=-1, numDVs=9)))
    assert _statistics(sales, "id")["id"].longStats.numNulls == -1
    assert _statistics(sales, "id")["id"].longStats.numDVs == 9


def test_drop_stats(sales: Metastore) -> None:
    """One call a column, also of those without statistics; then the parameters go."""
    _write(sales, column_object("id", "bigint", *STRUCTS["l"]))
    client = sales.client()
    engine = _engine(sales)
    for column in COLUMNS:
        arguments = (sales.database, "sales", column, *([engine] if engine else []))
        try:
            client.delete_table_column_statistics(*arguments)
        except api.NoSuchObjectException:
            assert not sales.ours, "only Hive says that there were none, and Impala asks for those that it knows"
    assert _statistics(sales, *COLUMNS) == {}
    table = _load(sales)
    table.parameters = {key: value for key, value in table.parameters.items() if key not in {"numRows", "totalSize"}}
    _alter(sales, table)
    assert "numRows" not in sales.parameters("sales")


def test_insert(sales: Metastore) -> None:
    """New partitions are added, old ones altered, and the insert is told to the log's readers."""
    client = sales.client()
    new = sales.partition("8", table="sales", columns=COLUMNS)
    new.parameters = {"numRows": "-1", **MARKERS}
    request = api.AddPartitionsRequest(
        dbName=sales.database, tblName="sales", parts=[new], ifNotExists=True, needResult=True
    )
    (added,) = client.add_partitions_req(request).partitions
    assert {key: added.parameters[key] for key in MARKERS} == MARKERS
    assert client.add_partitions_req(request).partitions == []
    fired = api.FireEventRequest(
        successful=True,
        data=api.FireEventRequestData(
            insertData=api.InsertEventRequestData(filesAdded=["file:/x/day=8/f.parq"], replace=False)
        ),
        dbName=sales.database,
        tableName="sales",
        partitionVals=["8"],
    )
    if sales.flavour == "hive-2.3":
        return  # where the struct has other ids
    if not sales.ours:  # the real Hives here log nothing
        client.fire_listener_event(fired)
        return
    before = client.get_current_notificationEventId().eventId
    client.fire_listener_event(fired)
    (event,) = client.get_next_notification(api.NotificationEventRequest(lastEvent=before, maxEvents=10)).events
    assert event.eventType == "INSERT"
    assert json.loads(event.message)["files"] == ["file:/x/day=8/f.parq###"]


def test_its_own_changes_are_known_again_in_the_log(our_metastore: Metastore) -> None:
    """The real Hives here log nothing."""
    client = our_metastore.client()
    our_metastore.table("sales", COLUMNS, keys=("day",), parameters=MARKERS)
    last = client.get_current_notificationEventId().eventId
    table = _load(our_metastore)
    table.parameters["impala.events.catalogVersion"] = "43"
    _alter(our_metastore, table)
    new = our_metastore.partition("1", table="sales", columns=COLUMNS)
    new.parameters = {"impala.events.catalogVersion": "44"}
    client.add_partitions([new])
    told = client.get_next_notification(api.NotificationEventRequest(lastEvent=last, maxEvents=10)).events
    assert [each.eventType for each in told] == ["ALTER_TABLE", "ADD_PARTITION"]
    assert '"43"' in json.loads(told[0].message)["tableObjAfterJson"]
    assert '"44"' in json.loads(told[1].message)["partitionListJson"][0]


def test_dropping(sales: Metastore) -> None:
    client = sales.client()
    for day in DAYS[:2]:
        assert client.drop_partition(sales.database, "sales", [day.split("=")[1]], True)
    with pytest.raises(api.NoSuchObjectException):
        client.drop_partition(sales.database, "sales", ["1"], True)
    assert client.get_partition_names(sales.database, "sales", -1) == DAYS[2:]
    client.drop_table(sales.database, "sales", True)
    with pytest.raises(api.NoSuchObjectException):
        _load(sales)


def _write(metastore: Metastore, *objects: Any) -> None:
    described = api.ColumnStatisticsDesc(isTblLevel=True, dbName=metastore.database, tableName="sales")
    sent = api.ColumnStatistics(statsDesc=described, statsObj=list(objects), engine=_engine(metastore))
    assert metastore.client().update_table_column_statistics(sent)


def _compute_stats(metastore: Metastore) -> None:
    """COMPUTE STATS of a partitioned table."""
    _write(
        metastore,
        column_object("id", "bigint", *STRUCTS["l"]),
        column_object("name", "string", *STRUCTS["s"]),
        column_object("paid", "boolean", *STRUCTS["b"]),
        column_object("price", "decimal(10,2)", *STRUCTS["dec"]),
        column_object("at", "timestamp", "longStats", api.LongColumnStatsData(numNulls=0, numDVs=3)),
    )
    counted = {"numRows": "100", "STATS_GENERATED_VIA_STATS_TASK": "true"}
    pieces = {f"impala_intermediate_stats_chunk{number}": CHUNK for number in range(2)}
    counted["impala_intermediate_stats_num_chunks"] = "2"
    _alter_partitions(metastore, counted | pieces, without=["COLUMN_STATS_ACCURATE"])
    table = _load(metastore)
    table.parameters.pop("COLUMN_STATS_ACCURATE", None)
    table.parameters |= {"numRows": "700", "totalSize": "9000", "impala.lastComputeStatsTime": "1700000000"}
    _alter(metastore, table)
