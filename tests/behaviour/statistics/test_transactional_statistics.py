"""Statistics of transactional tables: of which write they are, and who sees them. Hive has this from 4.0 on."""

from typing import Any

import pytest
from tests.behaviour.structs import of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

EXACT = '{"BASIC_STATS":"true"}'
ABLE = ["HIVEMANAGEDINSERTWRITE", "HIVEMANAGEDINSERTREAD"]
PARTITION = "k=a"


@pytest.fixture(autouse=True)
def _tables(metastore: Metastore) -> None:
    if metastore.generation < 4:
        pytest.skip("Hive before 4 does not know of which write statistics are")
    for name, keys in (("t", ()), ("p", ("k",))):
        table = api.Table(
            tableName=name,
            dbName=metastore.database,
            owner="tester",
            sd=metastore.storage(),
            partitionKeys=[api.FieldSchema(name=key, type="string", comment="") for key in keys],
            parameters={"transactional": "true", "transactional_properties": "insert_only"},
            tableType="MANAGED_TABLE",
        )
        request = api.CreateTableRequest(table=table, processorCapabilities=ABLE, processorIdentifier="test")
        metastore.client().create_table_req(request)


def _seen(mark: int, opened: str = "", aborted: str = "") -> str:
    """A reader's or writer's text that says which write ids it sees."""
    lowest = opened.partition(",")[0] or 2**63 - 1
    return f"d.t:{mark}:{lowest}:{opened}:{aborted}"


def _table(metastore: Metastore, **wanted: Any) -> Any:
    capable = {"capabilities": api.ClientCapabilities(values=[2]), "processorCapabilities": ABLE}
    return metastore.read_table(**capable, processorIdentifier="test", **wanted)


def _accurate(metastore: Metastore) -> str | None:
    found: str | None = _table(metastore).parameters.get("COLUMN_STATS_ACCURATE")
    return found


def _write(metastore: Metastore, column: str, write_id: int, valid: str | None) -> None:
    sent = statistics(metastore, statistics_of(column))
    request = api.SetPartitionsStatsRequest(
        colStats=[sent], needMerge=False, engine="hive", writeId=write_id, validWriteIdList=valid
    )
    assert metastore.client().update_table_column_statistics_req(request).result


def _count_exactly(metastore: Metastore, write_id: int) -> None:
    """Say that the table's row count is exact, as a writer does that has counted."""
    table = _table(metastore)
    table.writeId = write_id
    table.parameters |= {"COLUMN_STATS_ACCURATE": EXACT, "numRows": "9"}
    context = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
    request = api.AlterTableRequest(
        dbName=metastore.database,
        tableName="t",
        table=table,
        environmentContext=context,
        writeId=write_id,
        validWriteIdList=_seen(write_id),
        processorCapabilities=ABLE,
        processorIdentifier="test",
    )
    metastore.client().alter_table_req(request)


def _read(metastore: Metastore, valid: str | None) -> list[str]:
    request = api.TableStatsRequest(
        dbName=metastore.database, tblName="t", colNames=["l", "s"], engine="hive", validWriteIdList=valid
    )
    return [each.colName for each in metastore.client().get_table_statistics_req(request).tableStats]


def test_statistics_of_no_write_are_seen_by_all(metastore: Metastore) -> None:
    assert metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("l")))
    assert _accurate(metastore) == '{"COLUMN_STATS":{"l":"true"}}'
    for valid in (None, _seen(0), _seen(5, "1,2")):
        assert _read(metastore, valid) == ["l"]


def test_statistics_of_a_write_are_seen_by_who_sees_the_write(metastore: Metastore) -> None:
    _count_exactly(metastore, 3)
    _write(metastore, "l", 4, _seen(4))
    assert _table(metastore).writeId == 4
    assert _accurate(metastore) == '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true"}}'
    seen = {valid: _read(metastore, valid) for valid in (_seen(4), _seen(9), _seen(9, "5"), _seen(9, "", "3"))}
    assert list(seen.values()) == [["l"]] * 4
    unseen = {valid: _read(metastore, valid) for valid in (_seen(3), _seen(9, "4"), _seen(9, "", "4"))}
    assert list(unseen.values()) == [[]] * 3
    assert of_table(metastore, "l", engine="hive"), "who says nothing of a transaction sees all"


def test_a_table_says_whether_its_counts_are_seen(metastore: Metastore) -> None:
    _count_exactly(metastore, 3)
    _write(metastore, "l", 4, _seen(4))
    marked = '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true"}}'
    for valid, expected in ((None, (marked, None)), (_seen(4), (marked, True)), (_seen(3), (None, False))):
        found = _table(metastore, validWriteIdList=valid)
        assert (found.parameters.get("COLUMN_STATS_ACCURATE"), found.isStatsCompliant) == expected


def test_statistics_of_a_write_need_exact_counts_to_be_seen(metastore: Metastore) -> None:
    _write(metastore, "l", 3, _seen(3))
    assert _read(metastore, _seen(9)) == []
    assert of_table(metastore, "l", engine="hive")


@pytest.mark.parametrize("valid", [None, _seen(5)])
def test_exact_counts_may_not_be_changed_without_a_write_id(metastore: Metastore, valid: str | None) -> None:
    _count_exactly(metastore, 3)
    _write(metastore, "l", 4, _seen(4))
    refused = pytest.raises(
        api.MetaException,
        match=rf"Cannot change stats state for a transactional table {metastore.database}.t without providing "
        rf"the transactional write state for verification \(new write ID -1, valid write IDs {valid or 'null'}; "
        r"current state {[^)]*; new state {[^)]*\)$",
    )
    sent = statistics(metastore, statistics_of("s"))
    request = api.SetPartitionsStatsRequest(colStats=[sent], needMerge=False, engine="hive", validWriteIdList=valid)
    with refused:
        metastore.client().update_table_column_statistics_req(request)
    assert set(of_table(metastore, "l", "s", engine="hive")) == {"l"}
    assert _table(metastore).writeId == 4


def test_a_writer_that_missed_a_write_leaves_nothing_exact(metastore: Metastore) -> None:
    _count_exactly(metastore, 3)
    _write(metastore, "l", 4, _seen(4))
    _write(metastore, "s", 5, _seen(5, "4"))
    assert (_accurate(metastore), _table(metastore).writeId) == (None, 5)
    assert _read(metastore, _seen(9)) == []


def test_a_writer_may_follow_one_that_was_aborted(metastore: Metastore) -> None:
    _count_exactly(metastore, 3)
    _write(metastore, "l", 4, _seen(4))
    _write(metastore, "s", 5, _seen(5, "", "4"))
    assert _accurate(metastore) == '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true","s":"true"}}'
    assert set(_read(metastore, _seen(5))) == {"l", "s"}


def test_their_statistics_cannot_be_deleted_alone(metastore: Metastore) -> None:
    assert metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("l")))
    refused = pytest.raises(api.MetaException, match="Cannot delete stats via this API for a transactional table")
    with refused:
        metastore.client().delete_table_column_statistics(metastore.database, "t", "l", "hive")
    with refused:
        metastore.client().delete_partition_column_statistics(metastore.database, "p", PARTITION, "l", "hive")
    assert set(of_table(metastore, "l", engine="hive")) == {"l"}


def test_partitions_are_seen_one_by_one(metastore: Metastore) -> None:
    """Two partitions of different writes; together they are seen by who sees both, where Hive 4 answers nothing."""
    if not metastore.ours:
        pytest.skip("Hive 4's answer of nothing cannot be read")
    base = metastore.partition("a", table="p")
    for value in ("a", "b"):
        base.values = [value]
        base.parameters = {"COLUMN_STATS_ACCURATE": EXACT, "numRows": "9"}
        metastore.client().add_partition(base)
    for write_id, name in ((3, "k=a"), (4, "k=b")):
        sent = statistics(metastore, statistics_of("l"), partition=name, table="p")
        request = api.SetPartitionsStatsRequest(
            colStats=[sent], needMerge=False, writeId=write_id, validWriteIdList=_seen(write_id)
        )
        assert metastore.client().set_aggr_stats_for(request)

    def seen(valid: str) -> tuple[list[str], int]:
        wanted = api.PartitionsStatsRequest(
            dbName=metastore.database,
            tblName="p",
            colNames=["l"],
            partNames=["k=a", "k=b"],
            validWriteIdList=valid,
        )
        client = metastore.client()
        each = client.get_partitions_statistics_req(wanted).partStats
        return sorted(each), client.get_aggr_stats_for(wanted).partsFound

    assert seen(_seen(4)) == (["k=a", "k=b"], 2)
    assert seen(_seen(3)) == (["k=a"], 0)
    assert seen(_seen(2)) == ([], 0)


def test_a_list_of_write_ids_that_is_none(metastore: Metastore) -> None:
    if not metastore.ours:
        pytest.skip("Hive reads the list only where counts are exact")
    with pytest.raises(api.MetaException, match="a list of valid write ids must be table:mark:open:ids:ids, found x"):
        _read(metastore, "x")
