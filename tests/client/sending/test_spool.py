"""Parcels come back from a spool folder as they went in, in order, whole or not at all; what is damaged is named."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.strategies import column_statistics

from hmstats.client.sending import parcel_bytes
from hmstats.client.sending.parcel import Item, Parcel, pack_items
from hmstats.client.sending.spool import Spool, file_name
from hmstats.errors import SpoolError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.provenance import Provenance

NAME = TableName("hive", "db", "t")
MADE = Provenance(exact=False, rows_seen=7, sample_fraction=0.5, tool="hmstats 1")
COLUMN = ColumnStatistics("a", "bigint", LongStatistics(low=1, high=9, nulls=0, ndv=3), b"top-k", MADE)
PARTITIONS = st.text("abü=/%", min_size=1, max_size=8)
PARAMETERS = st.dictionaries(st.text(max_size=5), st.none() | st.text(max_size=5), max_size=3)


@given(st.data(), st.lists(PARTITIONS, min_size=1, max_size=4, unique=True), st.integers(0, 2**40))
def test_what_goes_in_comes_back(data: st.DataObject, partitions: list[str], made_at: int) -> None:
    columns = tuple(data.draw(st.lists(column_statistics(), max_size=3, unique_by=lambda each: each.column)))
    items = tuple(Item(StatisticsSet(columns, each), data.draw(PARAMETERS)) for each in partitions)
    sent = Parcel(NAME, ("k", "j"), items, made_at)
    assert parcel_bytes.decode(parcel_bytes.encode(sent)) == sent


def test_details_and_the_table_itself_come_back(tmp_path: Path) -> None:
    folder, whole = Spool(str(tmp_path / "deep" / "spool")), parcel(None)
    folder.put("x.hmstats", whole)
    assert folder.names() == ["x.hmstats"]
    assert folder.get("x.hmstats") == whole
    assert (whole.of_table, parcel("k=1").of_table) == (True, False)


def test_files_go_in_the_order_of_their_runs_and_the_table_behind_its_partitions(tmp_path: Path) -> None:
    folder = Spool(tmp_path.as_uri())
    earlier, later = "20260101T000000Z-ffffffff", "20260101T000001Z-00000000"
    parcels = [(later, parcel("k=1")), (earlier, parcel(None)), (earlier, parcel("k=2")), (earlier, parcel("k=1"))]
    for run, each in parcels:
        folder.put(file_name(run, each), each)
    found = [folder.get(name) for name in folder.names()]
    assert sorted(each.items[0].partition or "" for each in found[:2]) == ["k=1", "k=2"]
    assert [each.items[0].partition for each in found[2:]] == [None, "k=1"]


def test_a_task_that_runs_twice_keeps_its_parcel_once(tmp_path: Path) -> None:
    folder, first = Spool(str(tmp_path)), parcel("k=1", "k=2")
    again = replace(first, made_at_seconds=first.made_at_seconds + 5)
    for each in (first, again):
        folder.put(file_name("run", each), each)
    (name,) = folder.names()
    assert folder.get(name) == again
    assert file_name("run", first) != file_name("run", parcel("k=1"))
    assert file_name("run", first) != file_name("run", replace(first, table=replace(NAME, table="u")))


def test_half_a_file_is_never_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Spool(str(tmp_path))
    folder.put("a.hmstats", parcel("k=1"))

    def broken(_: object) -> bytes:
        raise OSError("no space left")

    monkeypatch.setattr("hmstats.client.sending.spool.parcel_bytes.encode", broken)
    for name in ("a.hmstats", "b.hmstats"):
        with pytest.raises(SpoolError, match=r"spool folder .* cannot be written: no space left"):
            folder.put(name, parcel("k=2"))
    assert folder.names() == ["a.hmstats"]
    assert folder.get("a.hmstats") == parcel("k=1")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda data: b"", "it must begin with hmstats-spool, found b''"),
        (lambda data: b"PAR1" + data, "it must begin with hmstats-spool"),
        (lambda data: data.replace(b"spool 1 ", b"spool 2 "), "it must be of version 1, found version 2"),
        (lambda data: data[:-1], "its checksum is not that of its content"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "its checksum is not that of its content"),
        (lambda data: data.replace(b'"k"', b'"j"'), "its checksum is not that of its content"),
    ],
)
def test_what_is_damaged_is_named(tmp_path: Path, damage: Callable[[bytes], bytes], sentence: str) -> None:
    folder = Spool(str(tmp_path))
    folder.put("a.hmstats", parcel("k=1"))
    path = tmp_path / "a.hmstats"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(SpoolError) as error:
        folder.get("a.hmstats")
    assert str(path) in str(error.value)
    assert sentence in str(error.value)


def test_a_content_that_is_none_is_no_parcel() -> None:
    head, _, _ = parcel_bytes.encode(parcel("k=1")).partition(b"\n")
    for content in (b"", b"[]\n", b"{}\n", b"{\n\x0c"):
        text = head.decode().split(" ")
        text[2] = hashlib.sha256(content).hexdigest()
        with pytest.raises(SpoolError, match="its content is none of this version"):
            parcel_bytes.decode(" ".join(text).encode() + b"\n" + content)


def test_a_folder_that_is_not_there_or_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpoolError, match="must be there, found nothing at "):
        Spool(str(tmp_path / "nothing")).names()
    with pytest.raises(SpoolError, match="must be a path or a URI, found 'nope://x/y'"):
        Spool("nope://x/y")
    (tmp_path / "file").write_text("x")
    with pytest.raises(SpoolError, match="cannot be written"):
        Spool(str(tmp_path / "file")).put("a.hmstats", parcel("k=1"))


def test_items_are_packed_as_they_are_made() -> None:
    made: list[int] = []

    def items() -> Iterator[Item]:
        for number in range(5):
            made.append(number)
            yield Item(StatisticsSet((COLUMN,) * 400, str(number)), {})

    lots = pack_items(items())
    assert [each.partition for each in next(lots)] == ["0", "1"]
    assert made == [0, 1, 2]
    assert [len(lot) for lot in lots] == [2, 1]


def parcel(*partitions: str | None) -> Parcel:
    items = tuple(Item(StatisticsSet((COLUMN,), each), {"numRows": "7", "gone": None}) for each in partitions)
    return Parcel(NAME, ("k",), items, 1_700_000_000)
