"""Parcels reach a metastore; what is refused, damaged or older than what is stored is kept and named."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.client.flaky import closed_port
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.client.connection.connection import Connection
from hmstats.client.sending.parcel import Item, Parcel
from hmstats.client.sending.push import WHOLE_TABLE, PushResult, push_spool, put
from hmstats.client.sending.spool import Spool
from hmstats.errors import ServiceUnavailable
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.provenance import Provenance

COLUMNS = {"l": "bigint"}
AN_HOUR = 3600


@pytest.fixture
def service(metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as connected:
        yield connected


@pytest.fixture
def name(metastore: Metastore) -> TableName:
    """A table with three partitions."""
    metastore.table("t", COLUMNS, keys=("k",))
    metastore.add_partitions(("0",), ("1",), ("2",), columns=COLUMNS)
    return TableName("hive", metastore.database, "t")


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(str(tmp_path / "spool"))


def test_a_parcel_is_put_and_putting_it_again_changes_nothing(service: client.Metastore, name: TableName) -> None:
    for _ in range(2):
        assert put(service, parcel(name, "k=0", "k=1", high=5)) == {}
        assert put(service, parcel(name, None, high=6)) == {}
    assert highs(service, name, whole=True) == {"k=0": 5, "k=1": 5, WHOLE_TABLE: 6}
    rows = {each.values: each.parameters.get("numRows") for each in service.partitions(name, ["k=0", "k=2"])}
    assert rows == {("0",): "5", ("2",): None}


def test_what_is_refused_is_named_and_does_not_keep_the_rest(service: client.Metastore, name: TableName) -> None:
    mixed = parcel(name, "k=0", "k=9", "k=2", high=5)
    assert set(put(service, mixed)) == {"k=9"}
    assert highs(service, name) == {"k=0": 5, "k=2": 5}
    assert set(put(service, parcel(replace(name, table="nope"), None))) == {WHOLE_TABLE}


def test_a_spool_folder_is_sent_in_order_and_emptied(service: client.Metastore, name: TableName, spool: Spool) -> None:
    # Each is older than what the one before it writes; they are of one folder, and the last is what counts.
    for number, high in enumerate((5, 6, 7)):
        spool.put(f"{number}.hmstats", parcel(name, "k=0", "k=1", high=high))
    spool.put("9.hmstats", parcel(name, None, high=8))
    done = list(push_spool(service, spool))
    assert done == [
        *(PushResult(f"{number}.hmstats", name, accepted=2) for number in range(3)),
        PushResult("9.hmstats", name, accepted=1),
    ]
    assert highs(service, name, whole=True) == {"k=0": 7, "k=1": 7, WHOLE_TABLE: 8}
    assert spool.names() == []
    assert list(push_spool(service, spool)) == []


@pytest.mark.slow
def test_newer_statistics_are_not_overwritten_but_with_force(
    service: client.Metastore, name: TableName, spool: Spool
) -> None:
    put(service, parcel(name, "k=0", high=100))
    put(service, parcel(name, None, high=100))
    old = int(time.time()) - AN_HOUR
    spool.put("0.hmstats", parcel(name, "k=0", "k=1", high=5, made_at=old))
    spool.put("1.hmstats", parcel(name, None, high=5, made_at=old))
    done = list(push_spool(service, spool))
    assert [(each.accepted, each.newer, each.remains) for each in done] == [
        (1, ("k=0",), True),
        (0, (WHOLE_TABLE,), True),
    ]
    assert highs(service, name, whole=True) == {"k=0": 100, "k=1": 5, WHOLE_TABLE: 100}
    rows = {each.values: each.parameters["numRows"] for each in service.partitions(name, ["k=0", "k=1"])}
    assert rows == {("0",): "100", ("1",): "5"}
    assert spool.get("0.hmstats") == parcel(name, "k=0", high=5, made_at=old)
    assert [each.accepted for each in push_spool(service, spool, force=True)] == [1, 1]
    assert highs(service, name, whole=True) == {"k=0": 5, "k=1": 5, WHOLE_TABLE: 5}
    assert spool.names() == []


def test_older_statistics_are_overwritten(service: client.Metastore, name: TableName, spool: Spool) -> None:
    put(service, parcel(name, "k=0", high=100))
    spool.put("0.hmstats", parcel(name, "k=0", high=5, made_at=int(time.time()) + AN_HOUR))
    assert [each.accepted for each in push_spool(service, spool)] == [1]
    assert highs(service, name) == {"k=0": 5}


def test_what_is_refused_or_damaged_stays_in_the_folder(
    service: client.Metastore, name: TableName, spool: Spool, tmp_path: Path
) -> None:
    spool.put("0.hmstats", parcel(name, "k=0"))
    (tmp_path / "spool" / "0.hmstats").write_bytes(b"hmstats-spool 1 x\n")
    spool.put("1.hmstats", parcel(name, "k=9", "k=1", high=5))
    spool.put("2.hmstats", parcel(replace(name, table="gone"), "k=0"))
    damaged, partly, gone = push_spool(service, spool)
    assert damaged.damaged is not None
    assert "0.hmstats is no file of a spool folder" in damaged.damaged
    assert (partly.accepted, set(partly.refused)) == (1, {"k=9"})
    assert (gone.accepted, set(gone.refused)) == (0, {"k=0"})
    assert highs(service, name) == {"k=1": 5}
    assert spool.names() == ["0.hmstats", "1.hmstats", "2.hmstats"]
    assert [item.partition for item in spool.get("1.hmstats").items] == ["k=9"]


def test_a_metastore_that_is_away_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    spool.put("0.hmstats", parcel(TableName("hive", "d", "t"), "k=0"))
    host, port = closed_port()
    with (
        client.connect(f"thrift://{host}:{port}", retries=0) as service,
        pytest.raises(ServiceUnavailable, match="no metastore can be reached"),
    ):
        list(push_spool(service, spool))
    assert spool.names() == ["0.hmstats"]


@pytest.mark.slow
def test_a_commit_meanwhile_is_not_undone(metastore_with_transactions: Metastore) -> None:
    """An Iceberg commit between our reading and our writing, where the metastore looks at what is expected."""
    metastore = metastore_with_transactions
    service = client.connect(f"thrift://127.0.0.1:{metastore.port}")
    table = TableName("hive", metastore.database, metastore.table("i", COLUMNS, parameters={"metadata_location": "1"}))
    committed: list[bool] = []
    real = service._table

    def commits(name: TableName) -> Any:
        struct = real(name)
        if not committed:
            committed.append(True)
            with client.connect(f"thrift://127.0.0.1:{metastore.port}") as other:
                other.put_table_parameters(table, {"metadata_location": "2", "theirs": "x"})
        return struct

    service._table = commits  # type: ignore[method-assign]
    service.put_table_parameters(table, {"numRows": "5"})
    found = service.find_table(table)
    service.close()
    assert found is not None
    known = {key: found.parameters.get(key) for key in ("metadata_location", "theirs", "numRows")}
    lost = {"metadata_location": "1", "theirs": None, "numRows": "5"}  # it does not look at what is expected
    expected = metastore.expects({"metadata_location": "2", "theirs": "x", "numRows": "5"}, {"hive-3.1": lost})
    assert known == expected


def test_ours_writes_parameters_and_statistics_in_one_call(
    our_metastore: Metastore, monkeypatch: pytest.MonkeyPatch
) -> None:
    our_metastore.table("t", COLUMNS, keys=("k",))
    our_metastore.add_partitions(*((str(number),) for number in range(20)), columns=COLUMNS)
    name = TableName("hive", our_metastore.database, "t")
    calls: list[str] = []
    real = Connection.call

    def counted(self: Connection, method: str, *arguments: Any) -> Any:
        calls.append(method)
        return real(self, method, *arguments)

    monkeypatch.setattr(Connection, "call", counted)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        names = [f"k={number}" for number in range(20)]
        assert put(service, parcel(name, *names, high=5)) == {}
        assert calls == ["set_statistics"]
        # One that is refused loses itself; all or nothing holds for each call.
        wrong = parcel(name, *names, "k=99", high=6)
        bad = replace(wrong.items[3], parameters={"numRows": "1"})  # fewer rows than it has nulls, say
        calls.clear()
        assert set(put(service, replace(wrong, items=(*wrong.items[:3], bad, *wrong.items[4:])))) == {"k=99"}
        assert set(calls) == {"set_statistics"}
        assert len(calls) <= 2 * 6
        assert highs(service, name) == dict.fromkeys(names, 6)
        # Removed and put at once, and without any statistics.
        nothing = Item(StatisticsSet((), "k=0"), {"numRows": None, "own": "1"})
        assert put(service, Parcel(name, ("k",), (nothing,), 0)) == {}
        (first,) = service.partitions(name, ["k=0"])
        assert (first.parameters.get("numRows"), first.parameters["own"]) == (None, "1")


def test_parameters_of_a_refused_call_are_not_changed(our_metastore: Metastore) -> None:
    our_metastore.table("t", COLUMNS)
    name = TableName("hive", our_metastore.database, "t")
    column = ColumnStatistics("nope", "bigint", LongStatistics(low=0, high=1, nulls=0, ndv=1))
    items = (Item(StatisticsSet((column,)), {"numRows": "7"}),)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        assert set(put(service, Parcel(name, (), items, 0))) == {WHOLE_TABLE}
        found = service.find_table(name)
        assert found is not None
        assert "numRows" not in found.parameters


@pytest.mark.parametrize("whole", [False, True])
def test_statistics_whose_mark_is_removed_are_not_marked(
    service: client.Metastore, name: TableName, *, whole: bool
) -> None:
    """Those of a sample must not answer queries: Hive takes max(l) from a column that is marked."""
    place = None if whole else "k=0"
    marked = Accurate(basic=True, columns=frozenset(COLUMNS))
    assert put(service, parcel(name, place, high=5)) == {}
    first = parcel(name, place, high=6)
    (sent,) = first.items
    for mark, expected in ((marked.text(), marked), (None, Accurate())):
        item = replace(sent, parameters={**sent.parameters, PARAMETER: mark})
        assert put(service, replace(first, items=(item,))) == {}
        assert highs(service, name, whole=whole)[place or WHOLE_TABLE] == 6
        table = service.find_table(name)
        assert table is not None
        found = table.parameters if whole else next(iter(service.partitions(name, ["k=0"]))).parameters
        assert Accurate.parse(found.get(PARAMETER)) == expected


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (Accurate(basic=True, columns=frozenset({"other"})), Accurate(basic=True, columns=frozenset({"other"}))),
        (Accurate(basic=True), Accurate(basic=True, columns=frozenset({"l"}))),
        (Accurate(), Accurate(columns=frozenset({"l"}))),
    ],
    ids=["of columns", "of rows", "of nothing"],
)
def test_a_mark_that_is_sent_stands_and_one_of_no_column_leaves_those_of_columns(
    metastore: Metastore, service: client.Metastore, sent: Accurate, stored: Accurate
) -> None:
    table = TableName("hive", metastore.database, metastore.table("m", COLUMNS))
    mark = sent.text()
    column = ColumnStatistics("l", "bigint", LongStatistics(low=0, high=1, nulls=0, ndv=1))
    items = (Item(StatisticsSet((column,)), {"numRows": "2", PARAMETER: mark}),)
    assert put(service, Parcel(table, (), items, 0)) == {}
    found = service.find_table(table)
    assert found is not None
    assert Accurate.parse(found.parameters.get(PARAMETER)) == stored


def parcel(name: TableName, *partitions: str | None, high: int = 9, made_at: int = 0) -> Parcel:
    column = ColumnStatistics(
        "l", "bigint", LongStatistics(low=0, high=high, nulls=0, ndv=1), provenance=Provenance(rows_seen=high)
    )
    items = tuple(Item(StatisticsSet((column,), each), {"numRows": str(high)}) for each in partitions)
    return Parcel(name, ("k",), items, made_at)


def highs(service: client.Metastore, name: TableName, *, whole: bool = False) -> dict[str, int | None]:
    """The stored upper bounds of the partitions, and with `whole` of the table."""
    sets = service.partition_statistics(name, ["l"], service.partition_names(name))
    found = {each.partition or "": getattr(each.columns[0].data, "high", None) for each in sets}
    if whole:
        (found[WHOLE_TABLE],) = (getattr(each.data, "high", None) for each in service.table_statistics(name, ["l"]))
    return found
