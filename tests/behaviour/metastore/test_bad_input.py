"""What makes no sense: statistics that contradict themselves, and bytes that are no message.

Hive stores most of what a client says of a column, however wrong. Here it is refused before anything is written, since
Trino and Presto fail a query that meets it.
"""

import socket
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url
from tests.behaviour.structs import (
    STRUCTS,
    TYPES,
    column_object,
    of_partitions,
    of_table,
    statistics,
    statistics_of,
)
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.metastores import HIVES, Metastore
from tests.fixtures.servers import serving
from tests.server.requests import request
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TTransportException

from hmstats.store.database.store import database_url
from hmstats.wire.idl import hive_metastore as api

PATIENCE_SECONDS = 20


def _write(metastore: Metastore, *objects: Any, table: str = "t") -> None:
    assert metastore.client().update_table_column_statistics(statistics(metastore, *objects, table=table))


@pytest.mark.parametrize(
    ("column", "other"), [("s", "l"), ("l", "s"), ("b", "l"), ("dec", "d"), ("d", "l"), ("dt", "l"), ("bin", "s")]
)
def test_statistics_of_a_kind_that_does_not_fit_are_refused(metastore: Metastore, column: str, other: str) -> None:
    """Hive stores them under the type that the writer names, and answers them as that kind."""
    metastore.table()
    member, data = STRUCTS[other]
    misfit = column_object(column, TYPES[other], member, data)
    if not metastore.ours:
        _write(metastore, misfit)
        assert getattr(of_table(metastore, column)[column], member) is not None
        return
    expected = f"(?i)column {column} of table .* is of type .*expected {STRUCTS[column][0]}, found {member}"
    with pytest.raises(api.InvalidInputException, match=expected.replace("(10,2)", ".*")):
        _write(metastore, statistics_of("l" if column != "l" else "d"), misfit)
    assert of_table(metastore, *TYPES) == {}


def test_doubles_of_an_integer_column_are_kept_as_such(metastore: Metastore) -> None:
    """Hive's own client tests write them, and call the column a double."""
    metastore.table()
    _write(metastore, column_object("l", "double", "doubleStats", STRUCTS["d"][1]))
    found = of_table(metastore, "l")["l"].doubleStats
    assert (found.lowValue, found.highValue, found.numDVs) == (-1.5, 1e300, 7)
    integers = column_object("l", "bigint", "doubleStats", STRUCTS["d"][1])
    if metastore.ours:
        with pytest.raises(api.InvalidInputException, match="expected longStats, found doubleStats"):
            _write(metastore, integers)


def test_a_partitions_statistics_of_a_kind_that_does_not_fit_are_refused(metastore: Metastore) -> None:
    """Hive stores them."""
    metastore.table(keys=("k",))
    metastore.add_partitions(("a",))
    misfit = column_object("s", "bigint", *STRUCTS["l"])
    sent = statistics(metastore, statistics_of("l"), misfit, partition="k=a")
    if not metastore.ours:
        assert metastore.client().update_partition_column_statistics(sent)
        assert of_partitions(metastore, ["k=a"], "s")["k=a"]["s"].longStats is not None
        return
    with pytest.raises(api.InvalidInputException, match="expected stringStats, found longStats"):
        metastore.client().update_partition_column_statistics(sent)
    assert of_partitions(metastore, ["k=a"], "l", "s") == {}


@pytest.mark.parametrize(
    ("column", "changed"),
    [
        ("l", {"numNulls": -7}),
        ("l", {"numDVs": -2}),
        ("b", {"numFalses": -2}),
        ("b", {"numTrues": -2}),
        ("s", {"maxColLen": -2}),
        ("s", {"avgColLen": -0.5}),
        ("bin", {"maxColLen": -2}),
    ],
)
def test_negative_counts_are_refused(metastore: Metastore, column: str, changed: dict[str, float]) -> None:
    """Hive stores them."""
    metastore.table()
    member, (field, value) = STRUCTS[column][0], next(iter(changed.items()))
    if not metastore.ours:
        _write(metastore, statistics_of(column, **changed))
        assert getattr(getattr(of_table(metastore, column)[column], member), field) == value
        return
    with pytest.raises(api.InvalidInputException, match=f"of column {column} of table .* found {value}"):
        _write(metastore, statistics_of("d"), statistics_of(column, **changed))
    assert of_table(metastore, "d", column) == {}


def test_minus_one_says_that_a_count_is_not_known(metastore: Metastore) -> None:
    """Impala writes it. Trino takes it from numNulls, and fails a query that meets it in numDVs; Hive sends both."""
    metastore.table()
    _write(metastore, statistics_of("l", numNulls=-1, numDVs=-1))
    found = of_table(metastore, "l")["l"].longStats
    assert found.numNulls == -1
    assert found.numDVs == metastore.expects(0, dict.fromkeys(HIVES, -1))


@pytest.mark.parametrize("column", ["l", "d", "s", "dec", "dt", "ts"])
def test_minus_one_takes_the_place_of_a_known_count(metastore: Metastore, column: str) -> None:
    metastore.table()
    _write(metastore, statistics_of(column))
    _write(metastore, statistics_of(column, numNulls=-1, numDVs=-1))
    found = of_table(metastore, column)[column]
    member = "timestampStats" if found.timestampStats else STRUCTS[column][0]
    counts = getattr(found, member)
    assert (counts.numNulls, counts.numDVs) == (-1, metastore.expects(0, dict.fromkeys(HIVES, -1)))


def test_nulls_above_an_exact_row_count_are_refused(metastore: Metastore) -> None:
    """Hive stores them."""
    exact = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "10"}
    metastore.table(parameters=exact)
    _write(metastore, statistics_of("l", numNulls=10))
    if not metastore.ours:
        _write(metastore, statistics_of("l", numNulls=11))
        return
    with pytest.raises(api.InvalidInputException, match="at most the table's 10 rows, found 11"):
        _write(metastore, statistics_of("l", numNulls=11))
    assert of_table(metastore, "l")["l"].longStats.numNulls == 10


def test_a_partition_that_is_written_wrong_is_named(our_metastore: Metastore) -> None:
    our_metastore.table(keys=("p",))
    added = our_metastore.partition("1")
    added.parameters = {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}', "numRows": "10"}
    our_metastore.client().add_partitions([added, our_metastore.partition("2")])
    where = rf"column l of partition p=1 of table hive\.{our_metastore.database}\.t"
    for nulls, words in ((11, f"{where} can have at most the partition's 10 rows"), (-7, f"{where} must be 0 or more")):
        structs = [
            statistics(our_metastore, statistics_of("l", **values), partition=f"p={each}")
            for each, values in (("1", {"numNulls": nulls}), ("2", {}))
        ]
        with pytest.raises(api.InvalidInputException, match=words):
            our_metastore.client().set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=structs))


def test_a_planner_gets_no_more_nulls_than_rows(metastore: Metastore) -> None:
    """The row count may have changed since, and may not be exact. Hive sends what it has; Trino fails the query."""
    metastore.table(parameters={"numRows": "10"})
    _write(metastore, statistics_of("l", numNulls=11))
    found = of_table(metastore, "l")["l"].longStats.numNulls
    assert found == metastore.expects(10, dict.fromkeys(HIVES, 11))


def test_a_planner_gets_no_bounds_the_wrong_way_round(metastore: Metastore) -> None:
    """Hive's own clients write such. Hive sends them; Trino fails the query."""
    metastore.table()
    _write(metastore, statistics_of("l", lowValue=9, highValue=3))
    found = of_table(metastore, "l")["l"].longStats
    as_sent = dict.fromkeys(HIVES, (9, 3))
    assert (found.lowValue, found.highValue) == metastore.expects((None, None), as_sent)


def test_a_struct_without_its_kind_is_refused(metastore: Metastore) -> None:
    if metastore.flavour == "hive-3.1":
        pytest.skip("Hive 3.1.3 never answers such a call")
    metastore.table()
    empty = api.ColumnStatisticsObj(colName="d", colType="double", statsData=api.ColumnStatisticsData())
    with pytest.raises((api.InvalidInputException, TApplicationException)) as raised:
        _write(metastore, statistics_of("l"), empty)
    if metastore.ours:
        assert "column d must have exactly one kind of data, found none" in raised.value.message
    assert of_table(metastore, "l", "d") == {}


def test_a_count_that_older_clients_leave_out_is_unknown(metastore: Metastore) -> None:
    """Hive refuses the whole message, since the field is required."""
    metastore.table()
    if not metastore.ours:
        with pytest.raises(TApplicationException, match="Required field 'numNulls' is unset"):
            _write(metastore, statistics_of("l", numNulls=None))
        return
    _write(metastore, statistics_of("l", numNulls=None))
    assert of_table(metastore, "l")["l"].longStats.numNulls == -1


@pytest.mark.parametrize("missing", ["colName", "colType", "statsData"])
def test_a_column_without_name_type_or_data_is_refused(metastore: Metastore, missing: str) -> None:
    """Hive says so as a protocol error."""
    metastore.table()
    broken = statistics_of("l")
    setattr(broken, missing, None)
    expected = metastore.expects(api.InvalidInputException, dict.fromkeys(HIVES, TApplicationException))
    with pytest.raises(expected):
        _write(metastore, statistics_of("s"), broken)
    assert of_table(metastore, "l", "s") == {}


@pytest.mark.parametrize("part", ["statsDesc", "statsObj"])
def test_statistics_of_nothing_are_refused(metastore: Metastore, part: str) -> None:
    metastore.table()
    broken = statistics(metastore, statistics_of("l"))
    setattr(broken, part, None)
    expected = metastore.expects(api.InvalidInputException, dict.fromkeys(HIVES, TApplicationException))
    with pytest.raises(expected, match=part):
        metastore.client().update_table_column_statistics(broken)


def test_no_statistics_at_all_are_refused(metastore: Metastore) -> None:
    """Hive breaks; 3.1 closes the connection."""
    broken = dict.fromkeys(HIVES, TApplicationException) | {"hive-3.1": TTransportException}
    with pytest.raises(metastore.expects(api.InvalidInputException, broken)):
        metastore.client().update_table_column_statistics(None)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_null_names_are_refused(metastore: Metastore, missing: int) -> None:
    """Hive breaks; 3.1 closes the connection."""
    metastore.table()
    names = [metastore.database, "t", "l"]
    arguments = [None if number == missing else name for number, name in enumerate(names)]
    broken = dict.fromkeys(HIVES, (TApplicationException,)) | {"hive-3.1": (TTransportException,)}
    with pytest.raises(metastore.expects((api.InvalidInputException, api.MetaException), broken)):
        metastore.client().get_table_column_statistics(*arguments)


def test_a_null_partition_name_is_refused(metastore: Metastore) -> None:
    metastore.table(keys=("k",))
    sent = statistics(metastore, statistics_of("l"))
    with pytest.raises(api.MetaException, match="Partition name is invalid"):
        metastore.client().update_partition_column_statistics(sent)


def test_half_a_message_writes_nothing(metastore: Metastore) -> None:
    metastore.table()
    whole = _update_request(metastore)
    with _socket(metastore) as half:
        half.sendall(whole[: len(whole) // 2])
        assert of_table(metastore, "l") == {}, "others are answered while the rest is awaited"
    assert of_table(metastore, "l") == {}


def test_a_message_in_pieces_is_one(metastore: Metastore) -> None:
    metastore.table()
    whole = _update_request(metastore)
    with _socket(metastore) as slow:
        for at in range(0, len(whole), 16):
            slow.sendall(whole[at : at + 16])
        assert slow.recv(4) == b"\x80\x01\x00\x02", "a reply, and no exception"
    assert set(of_table(metastore, "l")) == {"l"}


@pytest.mark.parametrize(
    "garbage",
    [b"GET / HTTP/1.1\r\nHost: metastore\r\n\r\n", b"\x80\x01\x00\x01\xff\xff\xff\xff", b"\xff" * 64],
    ids=["http", "name-of-negative-size", "ones"],
)
def test_garbage_costs_its_own_connection_only(metastore: Metastore, garbage: bytes) -> None:
    living = metastore.client()
    with _socket(metastore) as broken:
        broken.sendall(garbage)
        assert _closed(broken)
    assert metastore.database in living.get_all_databases()


def test_a_message_beyond_the_limit_is_not_read(metastore: Metastore) -> None:
    """Every metastore reads 100 MB at most. This text says that it has 256 MB."""
    head = struct.pack(">Ii15si", 0x80010001, 15, b"create_database", 1)
    text = struct.pack(">bhbhi", 12, 1, 11, 1, 256 * 1024 * 1024)
    with _socket(metastore) as large:
        large.sendall(head + text + b"x" * 1000)
        assert _closed(large)
    assert metastore.database in metastore.client().get_all_databases()


@pytest.mark.slow
def test_our_limit_can_be_set(tmp_path: Path) -> None:
    with serving(tmp_path, settings={"max_message_bytes": 4096}) as port:
        limited = Metastore("hmstats-sqlite", port, 4.0)
        with limited.clients:
            with pytest.raises((api.MetaException, TApplicationException), match="4096"):
                limited.client().create_database(api.Database(name="large", description="x" * 5000))
            limited.client().create_database(api.Database(name="small", description="x" * 500))
            assert limited.client().get_all_databases() == ["default", "small"]


def test_a_client_that_vanishes_leaves_the_old_or_the_new(metastore: Metastore) -> None:
    metastore.table()
    _write(metastore, statistics_of("l", numDVs=1))
    for _ in range(5):
        with _socket(metastore) as vanishing:
            vanishing.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            vanishing.sendall(_update_request(metastore))
    assert of_table(metastore, "l")["l"].longStats.numDVs in (1, 5)


@pytest.mark.slow
def test_a_database_that_is_away_and_comes_back(tmp_path: Path, postgres_server: str, postgres_template: str) -> None:
    with fresh_database(postgres_server, postgres_template) as url, serving(tmp_path, database=url) as port:
        ours = Metastore("hmstats-postgres", port, 4.0)
        with ours.clients:
            client = ours.client()
            client.create_database(api.Database(name=ours.database))
            ours.table()
            sent = statistics(ours, statistics_of("l"))
            with _away(postgres_server, url):
                for call in (lambda: client.update_table_column_statistics(sent), lambda: of_table(ours, "l")):
                    with pytest.raises(api.MetaException, match=r"database .* does not answer"):
                        call()
            assert of_table(ours, "l") == {}
            assert client.update_table_column_statistics(sent)
            assert set(of_table(ours, "l")) == {"l"}


@contextmanager
def _away(server: str, url: str) -> Iterator[None]:
    """A database that lets nobody in, and throws out who is in."""
    name = make_url(url).database
    engine = create_engine(database_url(server), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        ended = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s"
        connection.exec_driver_sql(ended, (name,))
        yield
        connection.exec_driver_sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
    engine.dispose()


def _update_request(metastore: Metastore) -> bytes:
    return request("update_table_column_statistics", stats_obj=statistics(metastore, statistics_of("l")))


def _socket(metastore: Metastore) -> Any:
    return closing(socket.create_connection(("127.0.0.1", metastore.port), timeout=PATIENCE_SECONDS))


def _closed(connection: socket.socket) -> bool:
    """Whether the server closes the connection, after an answer or without; waits until it does."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        return True
    return True
