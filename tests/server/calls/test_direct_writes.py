"""Writes straight from the bytes of requests leave what the calls leave, and what is unusual is left to the calls."""

from collections.abc import Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update
from tests.fixtures.databases.statements import StatementCounter
from tests.server.requests import encoded, envelope
from tests.service.statistics.filled import NAME, TYPES, bit_vector, make_table, of_longs
from tests.wire.strategies import DATA

from hmstats.errors import HmstatsError, ProtocolError
from hmstats.model.catalog.objects import TableName
from hmstats.model.events import Event, Notification, StatisticsUpdated
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.server.calls import direct_writes
from hmstats.server.calls.direct_writes import DirectWrites
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments, encode_struct
from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.statistics.statistics import StatisticsCalls
from hmstats.service.statistics.reading.aggregate import StatisticsAggregator
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.sketch.frequent.top_k import TopK
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.schema import COLUMNS_V2, PART_COL_STATS, TAB_COL_STATS
from hmstats.store.statistics import details, table_facts
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.messages.allowance import Allowance
from hmstats.wire.messages.envelope import CALL, head_of, read_head
from hmstats.wire.messages.scanner import Scanner
from hmstats.wire.statistics import written_statistics
from hmstats.wire.statistics.column_statistics import set_to_thrift

SET = "set_aggr_stats_for"
UPDATE_TABLE, UPDATE_PARTITION = "update_table_column_statistics", "update_partition_column_statistics"
NAMES = ["p=1", "p=2", "p=3"]
KINDS = {name: kind if kind in DATA else "bigint" for name, kind in TYPES.items()} | {"m": "bigint"}
SKETCHES = {
    "bit_vector": st.sampled_from([None, bit_vector(0, 3), bit_vector(0, 900, 4), bit_vector(0, 9_000)]),
    "histogram": st.sampled_from([None, of_longs(0, 9, histogram=True).histogram]),
}
SESSION = Session(1, "10.1.2.3:4", user="ada")


class Server:
    """Both ways of running a call over one store; `now` is the time of both, `events` what they recorded."""

    def __init__(self, store: Store) -> None:
        self.store, self.now, self.events = store, 1_000, list[Event]()
        store._clock = lambda: self.now
        self.writer = StatisticsWriter(store)
        aggregator = StatisticsAggregator(store)
        self._calls = StatisticsCalls(StatisticsReader(store), aggregator, self.writer, send_sketches=False)
        self.direct_writes = DirectWrites(self.writer.plain)
        self._direct = self.direct_writes.calls()

        def note(event: Event, _now_seconds: int) -> Notification:
            self.events.append(event)
            return Notification("", "", "", None, "", "")

        store.enable_log(note)

    def directly(self, method: str, argument: Any) -> bytes | None:
        return copy_context().run(self._direct[method], SESSION, Request.of(whole(method, argument)))

    def call(self, method: str, argument: Any) -> bytes:
        """The encoded result of the call itself. Raises its error."""
        arguments = decode_arguments(methods()[method], _message(method, argument), 0)
        success = copy_context().run(getattr(self._calls, method), SESSION, **arguments)
        return encode_struct(methods()[method].result(success=success))

    def clear(self) -> None:
        """Delete all statistics, and forget the events."""
        self.writer.delete_table(NAME, None, None)
        self.writer.delete_partitions(NAME, None, None, None)
        self.events.clear()

    def left(self) -> list[Any]:
        """What is stored and was recorded, but for the ids of rows."""
        found: list[Any] = []
        with self.store.read() as connection:
            for table, owner in ((TAB_COL_STATS, "TBL_ID"), (PART_COL_STATS, "PART_ID")):
                columns = [each for each in table.c if each.name != "CS_ID"]
                rows = connection.execute(
                    select(*columns).order_by(table.c[owner], table.c.COLUMN_NAME, table.c.ENGINE)
                )
                found.append([row._asdict() for row in rows])
            target = table_facts.find(connection, NAME)
            assert target is not None
            ids = partitions.find_ids(connection, target.id, NAMES)
            found.append(parameters.read(connection, OF_TABLES, [target.id]))
            found.append(parameters.read(connection, OF_PARTITIONS, sorted(ids.values())))
            found.append(sorted(details.read_table(connection, target.id, None), key=repr))
            found.append(sorted(details.read_partitions(connection, target.id, None, None), key=repr))
        for each in self.events:
            assert isinstance(each, StatisticsUpdated)
            found.append((each.statistics, each.parameters, each.values, replace(each.table, parameters={})))
        return found


@pytest.fixture
def server(store: Store, tmp_path: Path) -> Server:
    """Over a table with a column of every kind and three partitions."""
    make_table(store, tmp_path, [1, 2, 3])
    return Server(store)


def _message(method: str, argument: Any) -> bytes:
    arguments = methods()[method].arguments
    return encoded(arguments(**{arguments.thrift_spec[1][1]: argument}))


def longs(column: str = "l", partition: str | None = "p=1", **changed: Any) -> StatisticsSet:
    data = LongStatistics(**({"low": 1, "high": 2, "nulls": 0, "ndv": 2} | changed))
    return StatisticsSet((ColumnStatistics(column, TYPES.get(column, "bigint"), data),), partition)


def request(*sets: StatisticsSet, name: TableName = NAME, **changed: Any) -> Any:
    structs = [set_to_thrift(name, each, hive4=True, sketches=True, stamp=False) for each in sets]
    return api.SetPartitionsStatsRequest(colStats=structs, engine="hive", **changed)


@st.composite
def plain_sets(draw: st.DrawFn, names: Sequence[str | None]) -> list[StatisticsSet]:
    """Statistics of some columns, the same in each partition; their sketches are sound."""
    columns = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, unique=True))
    engine = draw(st.sampled_from(["hive", "impala"]))
    return [
        StatisticsSet(tuple(ColumnStatistics(each, TYPES[each], _plain(draw, each)) for each in columns), name, engine)
        for name in names
    ]


def _plain(draw: st.DrawFn, column: str) -> Any:
    data = draw(DATA[KINDS[column]])
    unknown = draw(st.lists(st.sampled_from(["nulls", *(["ndv"] if hasattr(data, "ndv") else [])]), max_size=2))
    changed: dict[str, Any] = dict.fromkeys(unknown)
    changed |= {name: draw(each) for name, each in SKETCHES.items() if hasattr(data, name)}
    return replace(data, **changed)


@given(st.data())
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_ways_leave_the_same(server: Server, data: st.DataObject) -> None:
    """Over what is stored of some partitions and columns already, perhaps under another type."""
    names = data.draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    stored, given_ = data.draw(plain_sets([data.draw(st.sampled_from(NAMES))])), data.draw(plain_sets(names))
    of_table, table_before = data.draw(plain_sets([None])), data.draw(plain_sets([None]))
    left = []
    for way in (server.directly, server.call):
        server.clear()
        server.now = 1_000
        server.writer.update_partitions(NAME, stored)
        server.writer.update_table(NAME, table_before[0])
        server.events.clear()
        server.now = 2_000
        calls = [(SET, request(*given_)), (SET, request(*of_table))]
        left.append(([way(*each) for each in calls], server.left()))
    assert left[0] == left[1]
    assert left[0][0][0] is not None


@pytest.mark.parametrize("partition", [None, "p=2"])
def test_every_call_that_writes_has_both_ways(server: Server, partition: str | None) -> None:
    method = UPDATE_PARTITION if partition else UPDATE_TABLE
    usual = request(longs(partition=partition))
    left = []
    for way in (server.directly, server.call):
        for name, argument in ((method, usual.colStats[0]), (f"{method}_req", usual)):
            server.clear()
            left.append((name, way(name, argument), server.left()))
    assert left[:2] == left[2:]
    assert None not in (left[0][1], left[1][1])


def test_others_are_marked_too(server: Server) -> None:
    server.call(SET, request(longs("m", "p=1")))
    for way in (server.directly, server.directly, server.call):
        assert way(SET, request(longs("l", "p=1"), longs("l", "p=2"))) is not None
        known = [each.get("COLUMN_STATS_ACCURATE") for each in server.left()[3].values()]
        marks = [each for each in known if each]
        assert marks == ['{"COLUMN_STATS":{"l":"true","m":"true"}}', '{"COLUMN_STATS":{"l":"true"}}']


def test_frequent_values_of_before_go(server: Server) -> None:
    top_k = TopK().to_bytes()
    (column,) = longs().columns
    server.writer.update_partitions(NAME, [StatisticsSet((replace(column, top_k=top_k),), name) for name in NAMES])
    assert server.directly(SET, request(longs(partition="p=1"), longs(partition="p=2"))) is not None
    with server.store.read() as connection:
        target = table_facts.find(connection, NAME)
        assert target is not None
        found = list(details.read_partitions(connection, target.id, None, None))
    assert [each.top_k for each in found] == [None, None, top_k]


UNFIT = {
    "no such column": request(longs("x")),
    "no such partition": request(longs(), longs(partition="p=9")),
    "no partition of that name": request(longs(partition="P=1")),
    "no such table": request(longs(), name=TableName("hive", "default", "u")),
    "another kind": request(StatisticsSet((ColumnStatistics("s", "bigint", LongStatistics(ndv=1)),), "p=1")),
    "a column of an older writer": request(
        StatisticsSet((ColumnStatistics("ts", "timestamp", LongStatistics(low=1, nulls=0, ndv=1)),), "p=1")
    ),
    "a count below 0": request(longs(), longs(partition="p=2", ndv=-2)),
    "more nulls than rows": request(longs(nulls=4)),
    "a corrupt bit vector": request(longs(bit_vector=bit_vector(0, 9)), longs(partition="p=2", bit_vector=b"HLLx")),
    "a corrupt histogram": request(longs(histogram=b"k")),
    "a bit vector of the older kind": request(longs(bit_vector=b"FM\x10\x00" + bytes(64))),
    "no bit vector, as Hive says it": request(longs(bit_vector=b"HL")),
    "the table's for a partition": request(longs(partition=None), longs(partition=None)),
}


TAKEN_BY_THE_CALL = {
    "no partition of that name",
    "a column of an older writer",
    "a bit vector of the older kind",
    "no bit vector, as Hive says it",
}


@pytest.mark.parametrize("what", UNFIT)
def test_what_does_not_fit_is_left_to_the_call(server: Server, what: str) -> None:
    """With nothing written before."""
    exact = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "3"}

    def count(unit: Any) -> None:
        target = table_facts.find(unit.connection, NAME)
        assert target is not None
        parameters.put(unit, OF_PARTITIONS, {partitions.find_ids(unit.connection, target.id, NAMES)["p=1"]: exact})

    server.store.write(count)
    before = server.left()
    assert server.directly(SET, UNFIT[what]) is None
    assert server.left() == before
    try:
        server.call(SET, UNFIT[what])
    except HmstatsError:
        assert server.left() == before
    else:
        assert what in TAKEN_BY_THE_CALL


def test_statistics_of_a_transaction_are_left_to_the_call(server: Server) -> None:
    def make_transactional(unit: Any) -> None:
        target = table_facts.find(unit.connection, NAME)
        assert target is not None
        parameters.put(unit, OF_TABLES, {target.id: {"transactional": "true"}})
        versions.bump(unit, target.id)

    assert server.directly(SET, request(longs())) is not None
    server.store.write(make_transactional)
    before = server.left()
    assert server.directly(SET, request(longs(ndv=1))) is None
    assert server.directly(UPDATE_TABLE, request(longs(partition=None)).colStats[0]) is None
    assert server.left() == before


def test_a_table_that_was_changed_since_the_last_write_is_read_again(server: Server) -> None:
    of_table, of_partition = request(longs(partition=None)), request(longs())

    def rename_column(unit: Any) -> None:
        target = table_facts.find(unit.connection, NAME)
        assert target is not None
        unit.connection.execute(update(COLUMNS_V2).where(COLUMNS_V2.c.COLUMN_NAME == "l").values(COLUMN_NAME="renamed"))
        versions.bump(unit, target.id)

    for _ in range(2):
        assert server.directly(UPDATE_TABLE, of_table.colStats[0]) is not None
        assert server.directly(UPDATE_PARTITION, of_partition.colStats[0]) is not None
    server.store.write(rename_column)
    assert server.directly(UPDATE_TABLE, of_table.colStats[0]) is None
    assert server.directly(UPDATE_PARTITION, of_partition.colStats[0]) is None
    assert server.directly(UPDATE_TABLE, request(longs("renamed", partition=None)).colStats[0]) is not None


def test_a_table_is_no_partition(server: Server) -> None:
    of_table, of_partition = request(longs(partition=None)), request(longs())
    assert server.directly(UPDATE_PARTITION, of_table.colStats[0]) is None
    assert server.directly(UPDATE_TABLE, of_partition.colStats[0]) is None
    assert server.directly(f"{UPDATE_PARTITION}_req", request(longs(), longs(partition="p=2"))) is None


def test_the_number_of_statements_does_not_grow(server: Server, statements: StatementCounter) -> None:
    server.store._encode = None
    for _ in range(3):  # takes ids, and comes to know the table
        server.directly(SET, request(*(longs(partition=name) for name in NAMES)))
    counts = []
    for names in (["p=1"], NAMES):
        with statements() as run:
            assert server.directly(SET, request(*(longs(partition=name, ndv=1) for name in names))) is not None
        counts.append(len(run))
    assert counts[0] == counts[1]


def whole(method: str, argument: Any) -> bytes:
    return envelope(method, 7, CALL, _message(method, argument))


def read(server: Server, message: bytes) -> Request | None:
    head = head_of(message)
    return None if head is None else server.direct_writes.recognise(head, bytearray(message))


def test_a_whole_request_is_read_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = request(longs(), longs(partition="p=2"))
    for method, argument in ((SET, sets), (UPDATE_PARTITION, sets.colStats[0])):
        message = whole(method, argument)
        asked = read(server, message)
        assert asked is not None
        with monkeypatch.context() as patched:
            patched.setattr(written_statistics, "_Sets", None)  # nothing can be read any more
            run = server.direct_writes.calls()[method]
            assert copy_context().run(run, SESSION, asked) is not None
    assert {row["NUM_DISTINCTS"] for row in server.left()[1]} == {2}


def test_parts_of_requests_and_more_than_one_are_not_whole(server: Server) -> None:
    for method, argument in ((SET, request(longs())), (UPDATE_PARTITION, request(longs()).colStats[0])):
        message = whole(method, argument)
        assert read(server, message)
        assert not any(read(server, message[:end]) for end in range(len(message)))
        assert not any(read(server, message + more) for more in (b"\0", message))
    assert not read(server, whole("get_table", "t"))


def test_a_long_request_is_left_to_the_scanner(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_writes, "_LONGEST_READ", 10)
    assert not read(server, whole(SET, request(longs())))


READING = DirectWrites(None)  # type: ignore[arg-type]  # it writes nothing here


@given(plain_sets(names=["p=1", "p=2"]), st.sampled_from([SET, UPDATE_PARTITION]), st.data())
def test_what_is_read_as_whole_is_whole_for_the_scanner_too(
    sets: list[StatisticsSet], method: str, data: st.DataObject
) -> None:
    asked = request(*sets)
    message = bytearray(whole(method, asked if method == SET else asked.colStats[0]))
    for _ in range(data.draw(st.integers(0, 3))):
        message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ProtocolError):
        head = read_head(message)
        if head is not None and READING.recognise(head, message):
            assert Scanner(message, Allowance(2**20)).scan() == len(message)
