"""What statistics calls look at, in which order, and what they say: the finer rules of every metastore."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.behaviour.structs import STRUCTS, column_object, of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import HIVES, Metastore
from tests.fixtures.servers import serving
from thriftpy2.thrift import TApplicationException

from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.wire.idl import hive_metastore as api

A, B = "k=a", "k=b"


def _partitioned(metastore: Metastore) -> None:
    metastore.table(keys=("k",))
    metastore.add_partitions(("a",), ("b",))


def _update(metastore: Metastore, *objects: Any, **changed: Any) -> None:
    """Write the table's statistics; `changed` is in the descriptor."""
    sent = statistics(metastore, *objects)
    for name, value in changed.items():
        setattr(sent.statsDesc, name, value)
    assert metastore.client().update_table_column_statistics(sent)


def _request(metastore: Metastore, *sets: Any, **more: Any) -> Any:
    return api.SetPartitionsStatsRequest(colStats=list(sets), **({"needMerge": False} | more))


def _accurate(metastore: Metastore) -> str | None:
    return metastore.parameters().get("COLUMN_STATS_ACCURATE")


def _require_generation_4(metastore: Metastore) -> None:
    if metastore.generation < 4:
        pytest.skip("Hive before 4 has no such call")


def test_how_many_sets_come_before_whether_to_merge(metastore: Metastore) -> None:
    _require_generation_4(metastore)
    client, one = metastore.client(), statistics(metastore, statistics_of("l"), table="nope")
    for call in (client.update_table_column_statistics_req, client.update_partition_column_statistics_req):
        for sets in ([], [one, one]):
            with pytest.raises(api.InvalidInputException, match="Only one stats object expected"):
                call(_request(metastore, *sets, needMerge=True))
        with pytest.raises(api.InvalidInputException, match="Merge is not supported for non-aggregate stats"):
            call(_request(metastore, one, needMerge=True))


def test_a_missing_table_comes_before_a_missing_column(metastore: Metastore) -> None:
    unknown = column_object("nope", "bigint", *STRUCTS["l"])
    sent = statistics(metastore, unknown, table="nope")
    said = {"hive-2.3": "does not exist|doesn't exist|not found"}
    text = rf"Specified catalog.database.table does not exist : hive.{metastore.database}.nope"
    with pytest.raises(api.NoSuchObjectException, match=metastore.expects(text, said)):
        metastore.client().update_table_column_statistics(sent)


def test_a_missing_table_is_missed_though_nothing_is_asked(metastore: Metastore) -> None:
    with pytest.raises(api.NoSuchObjectException):
        of_table(metastore, table="nope", engine="hive")


def test_a_missing_table_of_partitions_is_missed_though_nothing_is_asked(metastore: Metastore) -> None:
    """Hive 4 does not look for it."""
    request = api.PartitionsStatsRequest(dbName=metastore.database, tblName="nope", colNames=[], partNames=[])
    client = metastore.client()
    if metastore.flavour == "hive-4.0":
        assert client.get_partitions_statistics_req(request).partStats == {}
        return
    with pytest.raises(api.NoSuchObjectException):
        client.get_partitions_statistics_req(request)


def test_nothing_is_asked_of_partitions(metastore: Metastore) -> None:
    _partitioned(metastore)
    sent = statistics(metastore, statistics_of("l"), partition=A)
    assert metastore.client().update_partition_column_statistics(sent)
    assert of_partitions(metastore, [], "l", engine="hive") == {}
    assert of_partitions(metastore, [A], engine="hive") == {}


def test_a_set_without_columns_writes_none(metastore: Metastore) -> None:
    """Hive 2.3 breaks. Hive's newer ones leave a parameter that says that nothing is accurate."""
    metastore.table()
    if metastore.flavour == "hive-2.3":
        with pytest.raises(TApplicationException):
            _update(metastore)
        return
    _update(metastore)
    assert _accurate(metastore) == "{}"


@pytest.mark.parametrize("said", [True, False])
def test_whether_a_set_calls_itself_the_tables_does_not_matter(metastore: Metastore, said: bool) -> None:
    _partitioned(metastore)
    _update(metastore, statistics_of("l"), isTblLevel=said)
    sent = statistics(metastore, statistics_of("s"), partition=A)
    sent.statsDesc.isTblLevel = said
    assert metastore.client().update_partition_column_statistics(sent)
    assert set(of_table(metastore, "l", "s", engine="hive")) - {"s"} == {"l"}
    assert set(of_partitions(metastore, [A, B], "l", "s")[A]) == {"s"}


def test_an_unknown_catalog_has_no_table(metastore: Metastore) -> None:
    """Hive 2.3 knows no catalogs and looks at none."""
    metastore.table()
    if metastore.flavour == "hive-2.3":
        _update(metastore, statistics_of("l"), catName="nope")
        return
    with pytest.raises(api.NoSuchObjectException, match=rf"nope.{metastore.database}.t"):
        _update(metastore, statistics_of("l"), catName="nope")
    request = api.TableStatsRequest(dbName=metastore.database, tblName="t", colNames=["l"], catName="nope")
    with pytest.raises(api.NoSuchObjectException, match=rf"nope.{metastore.database}.t"):
        metastore.client().get_table_statistics_req(request)


def test_a_catalog_before_the_database_in_a_struct(metastore: Metastore) -> None:
    """Hive reads it in single arguments only."""
    metastore.table()
    named = f"@hive#{metastore.database}"
    if not metastore.ours:
        with pytest.raises(api.NoSuchObjectException):
            _update(metastore, statistics_of("l"), dbName=named)
        return
    _update(metastore, statistics_of("l"), dbName=named)
    request = api.TableStatsRequest(dbName=named, tblName="t", colNames=["l"])
    assert [each.colName for each in metastore.client().get_table_statistics_req(request).tableStats] == ["l"]


def test_a_marker_without_a_catalog(metastore: Metastore) -> None:
    said = {"hive-2.3": api.NoSuchObjectException}
    with pytest.raises(metastore.expects(api.MetaException, said)):
        metastore.client().get_table_column_statistics("@nope", "t", "l")


def test_a_sets_engine_comes_before_the_requests(metastore: Metastore) -> None:
    """Where the set names none, Hive takes `hive` and never the request's."""
    _require_generation_4(metastore)
    metastore.table()
    named, unnamed = statistics(metastore, statistics_of("l")), statistics(metastore, statistics_of("s"))
    named.engine = "one"
    for sent in (named, unnamed):
        assert metastore.client().update_table_column_statistics_req(_request(metastore, sent, engine="two")).result
    found = {engine: set(of_table(metastore, "l", "s", engine=engine)) for engine in ("one", "two", "hive")}
    apart = {"one": {"l"}, "two": set[str](), "hive": {"s"}}
    everything = {engine: {"l", "s"} for engine in found}
    assert found == metastore.expects(everything, dict.fromkeys(HIVES, apart))


def test_a_type_is_kept_in_lower_case(metastore: Metastore) -> None:
    metastore.table()
    _update(metastore, column_object("l", "BigINT", *STRUCTS["l"]))
    found = metastore.client().get_table_column_statistics(metastore.database, "t", "l")
    assert found.statsObj[0].colType == "bigint"


def test_a_type_of_the_same_kind_takes_the_place_of_the_former(metastore: Metastore) -> None:
    """Hive keeps the first one's name with the newest numbers."""
    metastore.table()
    for column_type in ("bigint", "int"):
        _update(metastore, column_object("l", column_type, *STRUCTS["l"]))
    found = metastore.client().get_table_column_statistics(metastore.database, "t", "l")
    assert found.statsObj[0].colType == metastore.expects("int", dict.fromkeys(HIVES, "bigint"))


def test_timestamps_as_such_are_longs_to_an_older_client(metastore: Metastore) -> None:
    """Hive before 4 does not know the member, and takes it for no statistics; Hive 4 answers it to everybody."""
    _require_generation_4(metastore)
    metastore.table()
    seconds = api.Timestamp(secondsSinceEpoch=-5), api.Timestamp(secondsSinceEpoch=1_700_000_000)
    data = api.TimestampColumnStatsData(lowValue=seconds[0], highValue=seconds[1], numNulls=0, numDVs=3)
    _update(metastore, column_object("ts", "timestamp", "timestampStats", data))
    assert of_table(metastore, "ts", engine="hive")["ts"].timestampStats.highValue.secondsSinceEpoch == 1_700_000_000
    older = of_table(metastore, "ts")["ts"]
    if not metastore.ours:
        assert older.longStats is None
        return
    assert (older.longStats.lowValue, older.longStats.highValue, older.timestampStats) == (-5, 1_700_000_000, None)


def test_sketches_are_kept_and_not_sent(metastore: Metastore) -> None:
    """By its defaults Hive sends none either: the field is absent, as one that was never set."""
    metastore.table()
    sketch = HiveHll()
    sketch.add_hashes(np.arange(1, 100, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    _update(metastore, statistics_of("l", bitVectors=sketch.to_bytes()))
    found = of_table(metastore, "l", engine="hive")["l"].longStats
    assert (found.bitVectors or None, found.histogram or None) == (None, None)


@pytest.mark.parametrize(
    ("scale", "unscaled", "expected"),
    [
        (2, b"\x00\x00\x00\x03", (2, b"\x03")),
        (0, b"\xff\xff", (0, b"\xff")),
        (38, b"\x01", (38, b"\x01")),
        (-3, b"\x07", (-3, b"\x07")),
        (0, b"\x4b\x3b\x4c\xa8\x5a\x86\xc4\x7a\x09\x8a\x22\x3f\xff\xff\xff\xff", None),
    ],
)
def test_a_decimal_keeps_its_scale_in_its_fewest_bytes(
    metastore: Metastore, scale: int, unscaled: bytes, expected: tuple[int, bytes] | None
) -> None:
    metastore.table()
    value = api.Decimal(scale=scale, unscaled=unscaled)
    _update(metastore, statistics_of("dec", lowValue=value, highValue=value))
    found = of_table(metastore, "dec")["dec"].decimalStats
    for bound in (found.lowValue, found.highValue):
        assert (bound.scale, bound.unscaled) == (expected or (scale, unscaled))


@pytest.mark.parametrize(
    ("stored", "marked"),
    [
        ("TRUE", '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true"}}'),
        ("FALSE", '{"COLUMN_STATS":{"l":"true"}}'),
        ("no json", '{"COLUMN_STATS":{"l":"true"}}'),
        ('{"BASIC_STATS":"false"}', '{"COLUMN_STATS":{"l":"true"}}'),
        (
            '{"COLUMN_STATS":{"s":"true"},"BASIC_STATS":"true"}',
            '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true","s":"true"}}',
        ),
    ],
)
def test_marks_that_others_have_written(metastore: Metastore, stored: str, marked: str) -> None:
    metastore.table(parameters={"COLUMN_STATS_ACCURATE": stored})
    _update(metastore, statistics_of("l"))
    assert _accurate(metastore) == marked


def test_a_call_for_many_partitions_marks_columns_and_no_counts(metastore: Metastore) -> None:
    """Hive 4 then claims exact row counts of a partition that has none."""
    _partitioned(metastore)
    sent = statistics(metastore, statistics_of("l"), partition=A)
    assert metastore.client().set_aggr_stats_for(_request(metastore, sent))
    found = metastore.client().get_partition_by_name(metastore.database, "t", A).parameters["COLUMN_STATS_ACCURATE"]
    claimed = {"hive-4.0": '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true"}}'}
    assert found == metastore.expects('{"COLUMN_STATS":{"l":"true"}}', claimed)


@pytest.mark.slow
def test_marks_can_be_turned_off(tmp_path: Path) -> None:
    """As a Hive 2.3 over its own column statistics."""
    with serving(tmp_path, settings={"keep_accuracy": "false"}) as port:
        plain = Metastore("hmstats-sqlite", port, 4.0)
        with plain.clients:
            plain.client().create_database(api.Database(name=plain.database))
            _partitioned(plain)
            _update(plain, statistics_of("l"))
            sent = [statistics(plain, statistics_of("l"), partition=each) for each in (A, B)]
            assert plain.client().update_partition_column_statistics(sent[0])
            assert plain.client().set_aggr_stats_for(_request(plain, sent[1]))
            assert _accurate(plain) is None
            for partition in (A, B):
                found = plain.client().get_partition_by_name(plain.database, "t", partition)
                assert "COLUMN_STATS_ACCURATE" not in found.parameters


@pytest.mark.slow
def test_another_engines_statistics_can_be_kept_apart(tmp_path: Path) -> None:
    """As Hive keeps them: by the engine's exact name, and the calls for one column ask for `hive`."""
    with serving(tmp_path, settings={"any_engine": "false"}) as port:
        strict = Metastore("hmstats-sqlite", port, 4.0)
        with strict.clients:
            strict.client().create_database(api.Database(name=strict.database))
            strict.table()
            sent = statistics(strict, statistics_of("l"))
            sent.engine = "impala"
            assert strict.client().update_table_column_statistics(sent)
            read = {engine: set(of_table(strict, "l", engine=engine)) for engine in ("impala", "Impala", "hive", None)}
            assert read == {"impala": {"l"}, "Impala": set(), "hive": set(), None: set()}
            with pytest.raises(api.NoSuchObjectException):
                strict.client().get_table_column_statistics(strict.database, "t", "l")


def test_a_write_id_of_a_plain_table_is_not_looked_at(metastore: Metastore) -> None:
    _require_generation_4(metastore)
    metastore.table()
    request = _request(metastore, statistics(metastore, statistics_of("l")), writeId=7, validWriteIdList="d.t:7:8::")
    assert metastore.client().update_table_column_statistics_req(request).result
    read = api.TableStatsRequest(
        dbName=metastore.database, tblName="t", colNames=["l"], validWriteIdList="d.t:1:2::", engine="hive"
    )
    found = metastore.client().get_table_statistics_req(read)
    assert [each.colName for each in found.tableStats] == ["l"]
    assert found.isStatsCompliant is None


def test_deleting_from_a_table_that_is_not_there(metastore: Metastore) -> None:
    client, engine = metastore.client(), "hive"
    with pytest.raises(api.NoSuchObjectException):
        client.delete_table_column_statistics(metastore.database, "nope", "l", engine)
    with pytest.raises(api.InvalidObjectException, match=rf"{metastore.database}.nope table not found"):
        client.delete_partition_column_statistics(metastore.database, "nope", A, "l", engine)


def test_deleting_from_a_partition_whose_name_is_wrong(metastore: Metastore) -> None:
    metastore.table(keys=("k", "j"))
    client = metastore.client()
    with pytest.raises(api.InvalidObjectException, match="incomplete partition name - missing j"):
        client.delete_partition_column_statistics(metastore.database, "t", A, "l", "hive")
    with pytest.raises(api.MetaException, match="Partition name is invalid"):
        client.delete_partition_column_statistics(metastore.database, "t", "", "l", "hive")
