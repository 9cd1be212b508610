"""What is read straight from the bytes of requests is what thriftpy2 wrote, and nothing is read from other bytes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.bounded import run_bounded
from tests.server.requests import encoded

from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.statistics import statistics_requests
from hmstats.wire.statistics.statistics_requests import StatisticsRequest

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def body(method: str, request: Any) -> bytes:
    """A request's arguments behind three other bytes."""
    return b"abc" + encoded(methods()[method].arguments(request=request))


@given(WORDS, WORDS, st.lists(NAMES), st.lists(NAMES), st.none() | NAMES, st.none() | NAMES)
def test_what_is_asked_of_partitions(
    database: str, table: str, columns: list[str], partitions: list[str], catalog: str | None, engine: str | None
) -> None:
    request = api.PartitionsStatsRequest(
        dbName=database, tblName=table, colNames=columns, partNames=partitions, catName=catalog, engine=engine
    )
    found = statistics_requests.of_partitions(body("get_partitions_statistics_req", request), 3)
    assert found == StatisticsRequest(database, table, columns, partitions, catalog, engine)


@given(WORDS, WORDS, st.lists(NAMES), st.none() | NAMES, st.none() | NAMES, st.none() | st.integers(-5, 5))
def test_what_is_asked_of_a_table(
    database: str, table: str, columns: list[str], catalog: str | None, engine: str | None, number: int | None
) -> None:
    request = api.TableStatsRequest(
        dbName=database, tblName=table, colNames=columns, catName=catalog, engine=engine, id=number
    )
    found = statistics_requests.of_table(body("get_table_statistics_req", request), 3)
    assert found == StatisticsRequest(database, table, columns, [], catalog, engine)


@pytest.mark.parametrize(
    "changed",
    [{"validWriteIdList": "t:1:9::"}, {"dbName": None}, {"tblName": ""}, {"colNames": None}],
)
def test_what_is_unusual_is_left_to_others(changed: dict[str, Any]) -> None:
    usual = {"dbName": "d", "tblName": "t", "colNames": ["c"], "partNames": ["p=1"]}
    method = "get_partitions_statistics_req"
    assert statistics_requests.of_partitions(body(method, api.PartitionsStatsRequest(**usual)), 3) is not None
    found = statistics_requests.of_partitions(body(method, api.PartitionsStatsRequest(**(usual | changed))), 3)
    assert found is None or not found.columns


@given(st.binary(max_size=60), st.integers(0, 200))
def test_other_bytes_and_half_a_request_are_none_of_its_kind(garbage: bytes, cut: int) -> None:
    request = api.PartitionsStatsRequest(dbName="d", tblName="t", colNames=["c"], partNames=["p=1"] * 9)
    whole = encoded(methods()["get_partitions_statistics_req"].arguments(request=request))
    for message in (garbage, b"\x0c\x00\x01" + garbage, whole[:cut]):
        found = statistics_requests.of_partitions(message, 0)
        assert found is None or message in (whole, whole[:-1]) or found.database


def test_negative_sizes_come_to_an_end() -> None:
    """Read as signed, a size can lead back to where its field begins, for ever."""
    said = run_bounded(
        "import struct\n"
        "from hmstats.wire.statistics.statistics_requests import of_partitions\n"
        "text, listed = b'\\x0b\\0\\1', b'\\x0f\\0\\3\\x0b'\n"
        "for size in (*range(-1, -40, -1), -2**31):\n"
        "    for field in (text, listed, listed + struct.pack('>i', 2)):\n"
        "        whole = b'\\x0c\\0\\1' + b'\\x0b\\0\\2\\0\\0\\0\\1t' + field + struct.pack('>i', size) + bytes(9)\n"
        "        print(of_partitions(whole, 0))\n"
    )
    assert said == "None\n" * 40 * 3
