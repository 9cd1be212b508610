"""Answers that are put together of kept objects say what the calls say, and cost no more than what changed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from tests.server.requests import encoded
from tests.store.catalog_values import NAME, TABLE, make_partitions, make_table
from tests.store.statistics.test_column_statistics import OF_EVERY_KIND
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.transport import TCyBufferedTransport

from hmstats.model.catalog.objects import Column
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.server.cache.cached_answers import CachedAnswer
from hmstats.server.cache.cached_objects import CachedObjects
from hmstats.server.cache.cached_tables import TableCache
from hmstats.server.cache.recent_changes import RecentChanges
from hmstats.server.messages.struct_codec import decode_arguments
from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.statistics.statistics import StatisticsCalls
from hmstats.service.statistics.reading import read
from hmstats.service.statistics.reading.aggregate import StatisticsAggregator
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS
from hmstats.store.unit.unit import Unit
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods

OF_PARTITIONS_CALL, OF_TABLE_CALL = "get_partitions_statistics_req", "get_table_statistics_req"
COLUMNS = {f"c{number}": kind for number, kind in enumerate(OF_EVERY_KIND)}
PARTITIONS = ["p=1", "p=2", "p=3"]


class Watched:
    """A reader, and what it was asked for: the names of methods and the partitions."""

    def __init__(self, reader: StatisticsReader) -> None:
        self._reader = reader
        self.asked: list[Any] = []
        self.before: Callable[[], None] = lambda: None
        """Happens before partitions are read."""

    def target(self, name: Any) -> Any:
        """As the reader's."""
        self.asked.append("target")
        return self._reader.target(name)

    def versioned_table(self, *given: Any, **more: Any) -> Any:
        """As the reader's."""
        self.asked.append("table")
        return self._reader.versioned_table(*given, **more)

    def versioned_partitions(self, name: Any, target: Any, wanted: Sequence[str], *given: Any, **more: Any) -> Any:
        """As the reader's."""
        self.asked.append(list(wanted))
        self.before()
        return self._reader.versioned_partitions(name, target, wanted, *given, **more)

    def since(self) -> list[Any]:
        """What it was asked for since the last time."""
        asked, self.asked = self.asked, []
        return asked


class Server:
    """What keeps objects over a store, beside the calls that keep nothing, and a writer."""

    def __init__(self, store: Store, max_bytes: int = 2**20) -> None:
        self.store = store
        aggregator = StatisticsAggregator(store)
        reader = StatisticsReader(store, sketches=False, aggregator=aggregator)
        self.writer = StatisticsWriter(store)
        self.reader = Watched(reader)
        self._calls = StatisticsCalls(reader, aggregator, self.writer, send_sketches=False)
        tables = TableCache(store.current_versions, RecentChanges(store.changes_since).touched, max_bytes)
        cached: Any = self.reader
        objects = CachedObjects(cached, tables, sketches=False)
        self._quick, self._ready = objects.calls(), objects.ready()

    def ask(self, method: str, request: Any) -> tuple[Any, Any]:
        """What is put together of what is kept, None where it is left to the call, and what the call says."""
        message = encoded(methods()[method].arguments(request=request))
        result = self._quick[method](message, 0)
        arguments = decode_arguments(methods()[method], message, 0)
        call = getattr(self._calls, method)
        said = copy_context().run(call, Session(1, "127.0.0.1:1"), **arguments).result
        return _told(method, result), _told(method, said)

    def partitions(self, wanted: Collection[str], columns: Collection[str], **more: Any) -> Any:
        """What is answered of partitions, which is checked; what the reader was asked for is in `reader`."""
        request = _of_partitions(wanted, columns, **more)
        answered, expected = self.ask(OF_PARTITIONS_CALL, request)
        assert answered == expected
        return answered

    def ready(self, wanted: Collection[str], columns: Collection[str], **more: Any) -> CachedAnswer | None:
        """What is answered of partitions at once, from rows that are there, which is checked to be what is read."""
        request = _of_partitions(wanted, columns, **more)
        cached = self._ready[OF_PARTITIONS_CALL](encoded(methods()[OF_PARTITIONS_CALL].arguments(request=request)), 0)
        if cached is not None and cached.versions == self.store.current_versions(cached.versions):
            assert _told(OF_PARTITIONS_CALL, cached.result) == self.ask(OF_PARTITIONS_CALL, request)[1]
        return cached

    def update(self, partition: str, number: int) -> None:
        """Write another number of distinct values of c1 of one partition."""
        data = LongStatistics(ndv=number, nulls=0)
        given = StatisticsSet((ColumnStatistics("c1", COLUMNS["c1"], data),), partition, "hive", None)
        self.writer.update_partitions(NAME, [given])


def _of_partitions(wanted: Collection[str], columns: Collection[str], **more: Any) -> Any:
    given = {"dbName": "default", "tblName": "t", "engine": "hive", **more}
    return api.PartitionsStatsRequest(partNames=list(wanted), colNames=list(columns), **given)


def _told(method: str, result: bytes | None) -> Any:
    """The decoded result: columns by name, since their order says nothing."""
    if result is None:
        return None
    holder = methods()[method].result
    found = _decoded(holder, result).success
    if method == OF_TABLE_CALL:
        return _by_name(found.tableStats)
    return {name: _by_name(objects) for name, objects in found.partStats.items()}


def _decoded(holder: Any, result: bytes) -> Any:
    struct = holder()
    TCyBinaryProtocol(TCyBufferedTransport(BytesIO(result), 2**16)).read_struct(struct)
    return struct


def _by_name(objects: Sequence[Any]) -> Mapping[str, str]:
    return {each.colName: repr(each) for each in objects}


def _plain(data: Any) -> Any:
    """The same without sketches."""
    return replace(data, **{name: None for name in ("bit_vector", "histogram") if hasattr(data, name)})


@pytest.fixture
def server(store: Store, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Over a table with three partitions: the first two have statistics of every kind, as the table; the third none.

    PostgreSQL packs statistics of any number of partitions here; the calls read them row by row.
    """
    monkeypatch.setattr(read, "_MANY_PARTITIONS", 1)
    columns = tuple(Column(name, kind) for name, kind in COLUMNS.items())
    assert TABLE.storage is not None
    table_id = make_table(store, replace(TABLE, storage=replace(TABLE.storage, columns=columns)))
    ids = make_partitions(store, table_id, "1", "2", "3")
    server = Server(store)
    given = tuple(ColumnStatistics(name, kind, _plain(OF_EVERY_KIND[kind])) for name, kind in COLUMNS.items())
    server.writer.update_table(NAME, StatisticsSet(given, None, "hive", None))
    for name in PARTITIONS[:2]:
        server.writer.update_partitions(NAME, [StatisticsSet(given, name, "hive", None)])

    def count(unit: Unit) -> None:
        parameters.put(unit, OF_PARTITIONS, {ids["p=2"]: {"numRows": "0"}})
        versions.bump(unit, table_id)

    store.write(count)
    server.reader.since()
    return server


def test_a_new_question_over_what_is_known_reads_nothing(server: Server) -> None:
    assert set(server.partitions(PARTITIONS, COLUMNS)) == {"p=1", "p=2"}
    assert server.reader.since() == ["target", PARTITIONS]
    for wanted, columns in ((["p=2"], ["c3", "c1"]), (["p=3", "p=1"], [*COLUMNS][::-1]), (["p=3"], ["c0"])):
        assert set(server.partitions(wanted, columns)) == {*wanted} - {"p=3"}
    assert server.reader.since() == []


def test_rows_that_are_there_are_an_answer_at_once(server: Server) -> None:
    columns = ["c3", "c1"]
    assert server.ready(["p=1"], columns) is None
    server.partitions(["p=1", "p=3"], columns)
    server.reader.since()
    found = server.ready(["p=3", "p=1"], columns)
    assert found is not None
    assert [*found.partitions.items()] == [(table_id, frozenset({"p=1", "p=3"})) for table_id in found.versions]
    assert [server.ready(*each) for each in ((["p=1", "p=2"], columns), (["p=1"], ["c1", "c3"]))] == [None, None]
    assert server.ready(["p=1", "p=1"], columns) is None
    assert server.reader.since() == []


def test_rows_are_of_the_version_that_they_say(server: Server) -> None:
    server.partitions(PARTITIONS, ["c1"])
    before = server.ready(["p=1"], ["c1"])
    server.update("p=2", 4_713)
    assert before is not None
    assert server.ready(["p=1"], ["c1"]) == before
    assert before.versions != server.store.current_versions(before.versions)
    server.partitions(PARTITIONS, ["c1"])
    after = server.ready(["p=1"], ["c1"])
    assert after is not None
    assert after.versions == server.store.current_versions(before.versions)
    assert after.result == before.result


def test_long_questions_are_not_answered_at_once(server: Server) -> None:
    many = [*PARTITIONS, *(f"p={'x' * 100}{number}" for number in range(400))]
    server.partitions(many, ["c1"])
    assert server.ready(PARTITIONS, ["c1"]) is not None
    assert server.ready(many, ["c1"]) is None


def test_only_what_is_missing_is_read(server: Server) -> None:
    server.partitions(["p=1"], ["c0", "c1"])
    server.reader.since()
    server.partitions(["p=2", "p=1", "p=3"], ["c1"])
    assert server.reader.since() == [["p=2", "p=3"]]
    server.partitions(PARTITIONS, ["c0", "c1"])
    assert server.reader.since() == [["p=2", "p=3"]]
    server.partitions(PARTITIONS, ["c2", "c0"])
    assert server.reader.since() == [PARTITIONS]


def test_a_change_of_one_partition_leaves_the_others(server: Server) -> None:
    before = server.partitions(PARTITIONS, ["c0", "c1"])
    server.update("p=2", 4_711)
    server.reader.since()
    after = server.partitions(PARTITIONS, ["c0", "c1"])
    assert server.reader.since() == [["p=2"]]
    assert after["p=1"] == before["p=1"]
    assert "4711" in after["p=2"]["c1"]
    server.update("p=3", 4_712)
    assert "4712" in server.partitions(["p=3"], ["c1"])["p=3"]["c1"]


def test_a_change_of_the_table_itself_leaves_its_partitions(server: Server) -> None:
    request = api.TableStatsRequest(dbName="default", tblName="t", colNames=["c1"], engine="hive")
    before = server.partitions(PARTITIONS, ["c0", "c1"])
    server.ask(OF_TABLE_CALL, request)
    data = LongStatistics(ndv=4_711, nulls=0)
    column = ColumnStatistics("c1", COLUMNS["c1"], data)
    server.writer.update_table(NAME, StatisticsSet((column,), None, "hive", None))
    server.reader.since()
    assert server.partitions(PARTITIONS, ["c0", "c1"]) == before
    assert server.reader.since() == ["target"]
    answered, expected = server.ask(OF_TABLE_CALL, request)
    assert answered == expected
    assert "4711" in answered["c1"]


def test_what_is_kept_and_what_is_read_are_of_one_snapshot(server: Server) -> None:
    """A writer changes a kept and a missing partition after the one was looked up and before the other is read."""
    server.partitions(["p=1"], ["c1"])
    numbers = iter([101, 102])

    def write_both() -> None:
        number = next(numbers, None)
        for partition in ("p=1", "p=2"):
            if number is not None:
                server.update(partition, number)

    server.reader.before = write_both
    answered = server.partitions(["p=1", "p=2"], ["c1"])
    assert ["102" in answered[name]["c1"] for name in ("p=1", "p=2")] == [True, True]


def test_writers_that_are_always_in_the_way_leave_it_to_the_call(server: Server) -> None:
    server.partitions(["p=1"], ["c1"])
    server.reader.before = lambda: server.update("p=1", len(server.reader.asked))
    answered, expected = server.ask(OF_PARTITIONS_CALL, _of_partitions(["p=1", "p=2"], ["c1"]))
    assert answered is None
    assert {*expected} == {"p=1", "p=2"}


def test_a_change_that_may_be_of_anything_leaves_nothing(server: Server) -> None:
    server.partitions(PARTITIONS, ["c0"])
    server.store.write(lambda unit: versions.bump(unit, tables.find_id(unit.connection, NAME) or 0))
    server.reader.since()
    server.partitions(PARTITIONS, ["c0"])
    assert server.reader.since() == ["target", PARTITIONS]


def test_who_asks_is_told_apart(server: Server) -> None:
    """A client older than Hive 4 gets other objects, and of p=2, which says it has no rows, no nulls."""
    newer = server.partitions(PARTITIONS, COLUMNS)
    older = server.partitions(PARTITIONS, COLUMNS, engine=None)
    assert newer != older
    assert server.partitions(PARTITIONS, COLUMNS, engine="spark") == newer
    (timestamp,) = (name for name, kind in COLUMNS.items() if kind == "timestamp")
    impala, spark = (str(server.partitions(PARTITIONS, [timestamp], engine=each)) for each in ("impala", "spark"))
    assert "timestampStats=None" in impala
    assert "timestampStats=None" not in spark
    assert server.partitions(PARTITIONS, COLUMNS) == newer


def test_names_are_not_told_apart_by_their_letters_where_the_calls_do_not(server: Server) -> None:
    expected = server.partitions(["p=1"], ["c0"])
    assert server.partitions(["p=1"], ["C0"], dbName="DEFAULT", tblName="T", catName="HIVE") == expected
    assert server.partitions(["p=1"], ["C0"], dbName="@hive#default") == expected


@pytest.mark.parametrize(
    ("wanted", "columns", "more"),
    [
        (["P=1"], ["c0"], {}),
        (["p=1", "p=1"], ["c0"], {}),
        (["p=1"], ["c0", "C0"], {}),
        ([], ["c0"], {}),
        (["p=1"], [], {}),
        (["p=1"], ["c0"], {"validWriteIdList": "t:1:9::"}),
    ],
)
def test_what_is_unusual_is_left_to_the_call(
    server: Server, wanted: list[str], columns: list[str], more: dict[str, Any]
) -> None:
    server.partitions(["p=2"], ["c0"])
    answered, expected = server.ask(OF_PARTITIONS_CALL, _of_partitions(wanted, columns, **more))
    assert answered is None or answered == expected == {}


def test_a_table_that_is_not_there_is_left_to_the_call(server: Server) -> None:
    message = encoded(methods()[OF_PARTITIONS_CALL].arguments(request=_of_partitions(["p=1"], ["c0"], tblName="u")))
    assert server._quick[OF_PARTITIONS_CALL](message, 0) is None


def test_a_tables_own_statistics(server: Server) -> None:
    def ask(columns: Collection[str], **more: Any) -> tuple[Any, Any]:
        wanted = {"dbName": "default", "tblName": "t", "engine": "hive", **more}
        return server.ask(OF_TABLE_CALL, api.TableStatsRequest(colNames=list(columns), **wanted))

    answered, expected = ask(COLUMNS)
    assert answered == expected
    assert server.reader.since() == ["table"]
    for columns in (["c2"], ["c4", "c1"]):
        answered, expected = ask(columns)
        assert answered == expected
        assert [*answered] == columns
    server.update("p=1", 5)
    assert ask(["c3"])[0] is not None
    assert server.reader.since() == []
    answered, expected = ask(COLUMNS, engine=None)
    assert answered == expected
    server.writer.delete_table(NAME, ["c0"], None)
    answered, expected = ask(["c0", "c1"])
    assert answered is None  # the partitions answer for c0
    assert {*expected} == {"c0", "c1"}


def test_partitions_and_the_table_are_kept_beside_each_other(server: Server) -> None:
    wanted = api.TableStatsRequest(dbName="default", tblName="t", colNames=["c0"], engine="hive")
    server.ask(OF_TABLE_CALL, wanted)
    server.partitions(PARTITIONS, ["c0"])
    server.reader.since()
    server.ask(OF_TABLE_CALL, wanted)
    server.partitions(PARTITIONS, ["c0"])
    assert server.reader.since() == []


@pytest.mark.parametrize("max_bytes", [0, 6_000, 8_000])
def test_answers_are_the_same_where_little_can_be_kept(store: Store, server: Server, max_bytes: int) -> None:
    small = Server(store, max_bytes)
    for wanted in (PARTITIONS, ["p=2"], PARTITIONS[::-1]):
        assert small.partitions(wanted, COLUMNS) == server.partitions(wanted, COLUMNS)


def test_nothing_is_kept_where_nothing_may_be(store: Store, server: Server) -> None:
    small = Server(store, 0)
    for _ in range(2):
        assert small.partitions(PARTITIONS, COLUMNS) == server.partitions(PARTITIONS, COLUMNS)
        assert small.reader.since() == ["target", PARTITIONS]


def test_a_partition_that_goes_and_comes_with_other_values(store: Store, server: Server) -> None:
    server.partitions(["p=1", "p=4"], ["c0"])

    def rename(unit: Unit) -> None:
        table_id = next(iter(unit.connection.exec_driver_sql('SELECT "TBL_ID" FROM "TBLS"').scalars()))
        found = partitions.find_ids(unit.connection, table_id, ["p=1"])
        partitions.rename(unit, found["p=1"], "p=4", ["4"])
        versions.bump(unit, table_id, {"p=1", "p=4"})

    store.write(rename)
    assert set(server.partitions(["p=1", "p=4"], ["c0"])) == {"p=4"}
