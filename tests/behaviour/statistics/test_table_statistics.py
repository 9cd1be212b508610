"""Statistics of a table's columns, as every metastore keeps them."""

import time

import pytest
from tests.behaviour.structs import STRUCTS, column_object, of_table, statistics, statistics_of
from tests.fixtures.metastores import HIVES, Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api


@pytest.fixture(autouse=True)
def _a_table(metastore: Metastore) -> None:
    metastore.table()


@pytest.mark.parametrize("column", list(STRUCTS))
def test_statistics_of_every_kind_come_back(metastore: Metastore, column: str) -> None:
    assert metastore.client().update_table_column_statistics(statistics(metastore, statistics_of(column)))
    found = of_table(metastore, column)[column]
    member, sent = STRUCTS[column]
    if column == "ts" and metastore.flavour == "hive-4.0":
        # Hive 4 answers timestampStats to every caller, which an older one reads as nothing.
        assert (found.longStats, found.timestampStats.lowValue.secondsSinceEpoch) == (None, -5)
        return
    received = getattr(found, member)
    for name in ("lowValue", "highValue", "numNulls", "numDVs", "numTrues", "numFalses", "maxColLen", "avgColLen"):
        assert getattr(received, name, None) == getattr(sent, name, None), name


def test_all_columns_are_read_at_once(metastore: Metastore) -> None:
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, *map(statistics_of, STRUCTS)))
    assert set(of_table(metastore, *STRUCTS)) == set(STRUCTS)


def test_a_column_without_statistics_is_left_out(metastore: Metastore) -> None:
    metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("l")))
    assert set(of_table(metastore, "l", "s", "nope")) == {"l"}
    assert of_table(metastore, "s") == {}


def test_the_singular_getter_says_when_they_were_analysed(metastore: Metastore) -> None:
    client = metastore.client()
    sent = statistics(metastore, statistics_of("l"))
    sent.statsDesc.lastAnalyzed = 5
    client.update_table_column_statistics(sent)
    found = client.get_table_column_statistics(metastore.database, "t", "l")
    assert found.statsDesc.isTblLevel
    assert (found.statsDesc.dbName, found.statsDesc.tableName) == (metastore.database, "t")
    assert abs(found.statsDesc.lastAnalyzed - time.time()) < 100, "the server's time, not the client's"
    assert [each.colName for each in found.statsObj] == ["l"]


def test_the_singular_getter_refuses_what_is_not_there(metastore: Metastore) -> None:
    """Hive answers with nothing, which its own client cannot read."""
    nothing = dict.fromkeys(HIVES, TApplicationException)
    with pytest.raises(metastore.expects(api.NoSuchObjectException, nothing)):
        metastore.client().get_table_column_statistics(metastore.database, "t", "s")


def test_an_unknown_table_is_no_such_object(metastore: Metastore) -> None:
    client = metastore.client()
    with pytest.raises(api.NoSuchObjectException):
        client.update_table_column_statistics(statistics(metastore, statistics_of("l"), table="nope"))
    with pytest.raises(api.NoSuchObjectException):
        client.get_table_column_statistics(metastore.database, "nope", "l")
    with pytest.raises(api.NoSuchObjectException):
        of_table(metastore, "l", table="nope")
    with pytest.raises(api.NoSuchObjectException):
        client.delete_table_column_statistics(metastore.database, "nope", "l", None)


def test_an_unknown_database_is_no_such_object(metastore: Metastore) -> None:
    sent = statistics(metastore, statistics_of("l"))
    sent.statsDesc.dbName = "nope"
    with pytest.raises(api.NoSuchObjectException):
        metastore.client().update_table_column_statistics(sent)


def test_an_unknown_column_writes_nothing(metastore: Metastore) -> None:
    unknown = column_object("nope", "bigint", "longStats", STRUCTS["l"][1])
    with pytest.raises(api.MetaException, match="Column nope doesn't exist"):
        metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("l"), unknown))
    assert of_table(metastore, "l") == {}


def test_writing_again_replaces(metastore: Metastore) -> None:
    client = metastore.client()
    for ndv in (5, 9):
        client.update_table_column_statistics(statistics(metastore, statistics_of("l", numDVs=ndv)))
    assert of_table(metastore, "l")["l"].longStats.numDVs == 9


def test_an_unset_bound_keeps_the_stored_one(metastore: Metastore) -> None:
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("l")))
    client.update_table_column_statistics(statistics(metastore, statistics_of("l", lowValue=None, numNulls=8)))
    found = of_table(metastore, "l")["l"].longStats
    assert (found.lowValue, found.numNulls) == (-(2**63), 8)


def test_bounds_that_were_never_set_stay_unset(metastore: Metastore) -> None:
    sent = statistics_of("l", lowValue=None, highValue=None)
    metastore.client().update_table_column_statistics(statistics(metastore, sent))
    found = of_table(metastore, "l")["l"].longStats
    assert (found.lowValue, found.highValue) == (None, None)


def test_names_are_read_in_any_case(metastore: Metastore) -> None:
    client = metastore.client()
    sent = statistics(metastore, statistics_of("l"), table="T")
    sent.statsDesc.dbName = metastore.database.upper()
    sent.statsObj[0].colName = "L"
    client.update_table_column_statistics(sent)
    found = client.get_table_column_statistics(metastore.database.upper(), "T", "L")
    assert found.statsObj[0].colName == "l"


def test_a_catalog_may_stand_before_the_database(metastore: Metastore) -> None:
    """Hive 2.3 knows no catalogs."""
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("l")))
    if metastore.generation < 3:
        with pytest.raises(api.NoSuchObjectException):
            client.get_table_column_statistics(f"@hive#{metastore.database}", "t", "l")
        return
    assert client.get_table_column_statistics(f"@hive#{metastore.database}", "t", "l").statsObj


def test_deleting_one_column_leaves_the_others(metastore: Metastore) -> None:
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("l"), statistics_of("s")))
    assert client.delete_table_column_statistics(metastore.database, "t", "l", _any_engine(metastore))
    assert set(of_table(metastore, "l", "s")) == {"s"}


def test_deleting_without_a_column_deletes_all(metastore: Metastore) -> None:
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("l"), statistics_of("s")))
    assert client.delete_table_column_statistics(metastore.database, "t", None, _any_engine(metastore))
    assert of_table(metastore, "l", "s") == {}


def test_deleting_what_is_not_there(metastore: Metastore) -> None:
    """Success here and in the newest Hive, as Trino needs; an error in Hive up to 4.0."""
    client = metastore.client()
    if metastore.ours:
        assert client.delete_table_column_statistics(metastore.database, "t", "l", None)
        return
    with pytest.raises(api.NoSuchObjectException):
        client.delete_table_column_statistics(metastore.database, "t", "l", _any_engine(metastore))


def test_the_columns_are_marked_as_accurate(metastore: Metastore) -> None:
    metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("s"), statistics_of("l")))
    assert metastore.parameters()["COLUMN_STATS_ACCURATE"] == '{"COLUMN_STATS":{"l":"true","s":"true"}}'


def test_marks_are_added_to_those_there(metastore: Metastore) -> None:
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("s")))
    client.update_table_column_statistics(statistics(metastore, statistics_of("b")))
    assert metastore.parameters()["COLUMN_STATS_ACCURATE"] == '{"COLUMN_STATS":{"b":"true","s":"true"}}'


def test_exact_row_counts_stay_marked(metastore: Metastore) -> None:
    basic = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "100"}
    metastore.table("counted", parameters=basic)
    metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("l"), table="counted"))
    marked = metastore.parameters("counted")["COLUMN_STATS_ACCURATE"]
    assert marked == '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true"}}'


def test_a_deleted_column_is_marked_no_more(metastore: Metastore) -> None:
    """Hive up to 4.0 leaves the mark, and so claims statistics that are gone."""
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("s"), statistics_of("l")))
    client.delete_table_column_statistics(metastore.database, "t", "l", _any_engine(metastore))
    kept = dict.fromkeys(HIVES, '{"COLUMN_STATS":{"l":"true","s":"true"}}')
    expected = metastore.expects('{"COLUMN_STATS":{"s":"true"}}', kept)
    assert metastore.parameters()["COLUMN_STATS_ACCURATE"] == expected


def test_statistics_of_a_table_can_be_set_as_an_aggregate(metastore: Metastore) -> None:
    request = api.SetPartitionsStatsRequest(colStats=[statistics(metastore, statistics_of("l"))], needMerge=False)
    assert metastore.client().set_aggr_stats_for(request)
    assert of_table(metastore, "l")["l"].longStats.numDVs == 5


def test_the_calls_of_the_newer_generation_write_too(metastore: Metastore) -> None:
    """Hive before 4 has no such call."""
    sent = statistics(metastore, statistics_of("l"))
    request = api.SetPartitionsStatsRequest(colStats=[sent], needMerge=False, engine="hive")
    client = metastore.client()
    if metastore.generation < 4:
        with pytest.raises(TApplicationException, match="Invalid method name"):
            client.update_table_column_statistics_req(request)
        return
    assert client.update_table_column_statistics_req(request).result
    request.needMerge = True
    with pytest.raises(api.InvalidInputException, match="Merge is not supported"):
        client.update_table_column_statistics_req(request)
    assert of_table(metastore, "l", engine="hive")["l"].longStats.numDVs == 5


def test_an_aggregate_of_nothing_is_no_error(metastore: Metastore) -> None:
    assert metastore.client().set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=[], needMerge=False))


def test_two_tables_in_one_aggregate_are_refused(metastore: Metastore) -> None:
    both = [statistics(metastore, statistics_of("l")), statistics(metastore, statistics_of("l"))]
    with pytest.raises(api.MetaException, match="Expecting only 1 ColumnStatistics for table's column stats"):
        metastore.client().set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=both, needMerge=False))


def test_a_caller_that_names_an_engine_reads_timestamps_as_such(metastore: Metastore) -> None:
    """Hive before 4 has longs only."""
    metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("ts")))
    found = of_table(metastore, "ts", engine="hive")["ts"]
    if metastore.generation < 4:
        assert found.longStats.highValue == 1_700_000_000
        return
    assert found.longStats is None
    assert found.timestampStats.highValue.secondsSinceEpoch == 1_700_000_000


def test_dropping_the_table_drops_its_statistics(metastore: Metastore) -> None:
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("l")))
    client.drop_table(metastore.database, "t", True)
    metastore.table()
    assert of_table(metastore, "l") == {}


def _any_engine(metastore: Metastore) -> str | None:
    """Hive 4.0.1 fails without an engine where two have rows; older ones know no such argument."""
    return "hive" if metastore.flavour == "hive-4.0" else None
