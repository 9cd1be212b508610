"""Many different questions over one large table, and connections that ask them.

Requests are made as they are sent, in frames, so that a reply's end is known without decoding it.
"""

import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.server.requests import request

from hmstats.wire.idl import hive_metastore as api

DATABASE, TABLE, KEY = "memory", "t", "k"
_TYPES = ("bigint", "double", "string")
_FRAME = struct.Struct(">I")
_HEAD = struct.Struct(">Ii")
_REPLY = 0x80010002
_NO_EXCEPTION = (b"\0\0", b"")
"""The number of a result's field where it is the value, and where there is none."""


@dataclass(frozen=True)
class Shape:
    """How many partitions and columns the table has, and how many of the partitions, the first, have bit vectors."""

    partitions: int
    columns: int
    sketched: int

    @property
    def types(self) -> dict[str, str]:
        """The columns with their types."""
        return {f"c{number}": _TYPES[number % len(_TYPES)] for number in range(self.columns)}


def value(number: int) -> str:
    """The key's value of a partition."""
    return f"v{number:06}"


Make = Callable[[Shape, Random], Mapping[str, Any]]
"""Makes the arguments of a call that is hardly ever made twice."""


@dataclass(frozen=True)
class Kind:
    """A kind of call."""

    title: str
    method: str
    make: Make


def ask(port: int, shape: Shape, kinds: Sequence[Kind], connections: int, seconds: float) -> int:
    """Let connections ask questions of these kinds in turn, as fast as they are answered; how many were.

    Raises RuntimeError when a call is refused.
    """
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(connections) as threads:
        running = [threads.submit(_ask, port, shape, kinds, until, Random()) for _ in range(connections)]
        return sum(each.result() for each in running)


def _ask(port: int, shape: Shape, kinds: Sequence[Kind], until: float, random: Random) -> int:
    count = 0
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection, connection.makefile("rb") as replies:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while time.monotonic() < until:
            kind = kinds[count % len(kinds)]
            sent = request(kind.method, **kind.make(shape, random))
            connection.sendall(_FRAME.pack(len(sent)) + sent)
            _check(replies.read(_FRAME.unpack(replies.read(_FRAME.size))[0]))
            count += 1
    return count


def _check(reply: bytes) -> None:
    head, name_length = _HEAD.unpack_from(reply)
    result = reply[_HEAD.size + name_length + 4 :]
    if head != _REPLY or result[1:3] not in _NO_EXCEPTION:
        raise RuntimeError(f"a reply without an exception was expected, found {reply[:200]!r}")


def _names(shape: Shape, random: Random, count: int) -> list[str]:
    return [f"{KEY}={value(number)}" for number in random.sample(range(shape.partitions), min(count, shape.partitions))]


def _columns(shape: Shape, random: Random, count: int) -> list[str]:
    return random.sample([*shape.types], min(count, shape.columns))


def _asked(partitions: Sequence[str], columns: Sequence[str]) -> Mapping[str, Any]:
    wanted = api.PartitionsStatsRequest(
        dbName=DATABASE, tblName=TABLE, colNames=columns, partNames=partitions, engine="hive"
    )
    return {"request": wanted}


def _statistics(shape: Shape, random: Random) -> Mapping[str, Any]:
    return _asked(_names(shape, random, 100), _columns(shape, random, 20))


def _aggregate(shape: Shape, random: Random) -> Mapping[str, Any]:
    return _asked(_names(shape, random, 1_000), _columns(shape, random, 20))


def _sketched_aggregate(shape: Shape, random: Random) -> Mapping[str, Any]:
    first = Shape(min(shape.sketched, shape.partitions), shape.columns, shape.sketched)
    return _asked(_names(first, random, 1_000), _columns(shape, random, 20))


def _one_column(shape: Shape, random: Random) -> Mapping[str, Any]:
    (name,), (column,) = _names(shape, random, 1), _columns(shape, random, 1)
    return {"db_name": DATABASE, "tbl_name": TABLE, "part_name": name, "col_name": column}


def _filter(shape: Shape, random: Random) -> Mapping[str, Any]:
    first = random.randrange(max(1, shape.partitions - 100))
    text = f'{KEY} >= "{value(first)}" and {KEY} < "{value(first + 100)}"'
    return {"db_name": DATABASE, "tbl_name": TABLE, "filter": text, "max_parts": -1}


def _every_name(shape: Shape, random: Random) -> Mapping[str, Any]:
    """Every negative number means all, and each makes another question."""
    del shape
    return {"db_name": DATABASE, "tbl_name": TABLE, "max_parts": random.randint(-(2**15), -1)}


def _update(shape: Shape, random: Random) -> Mapping[str, Any]:
    (name,), (column,) = _names(shape, random, 1), _columns(shape, random, 1)
    column_type = shape.types[column]
    counts = {"numNulls": random.randrange(1_000), "numDVs": 90_000}
    data = {
        "bigint": lambda: api.ColumnStatisticsData(longStats=api.LongColumnStatsData(**counts)),
        "double": lambda: api.ColumnStatisticsData(doubleStats=api.DoubleColumnStatsData(**counts)),
        "string": lambda: api.ColumnStatisticsData(
            stringStats=api.StringColumnStatsData(maxColLen=20, avgColLen=7.5, **counts)
        ),
    }[column_type]()
    written = api.ColumnStatisticsObj(colName=column, colType=column_type, statsData=data)
    description = api.ColumnStatisticsDesc(isTblLevel=False, dbName=DATABASE, tableName=TABLE, partName=name)
    return {"stats_obj": api.ColumnStatistics(statsDesc=description, statsObj=[written], engine="hive")}


KINDS = (
    Kind("statistics of 100 partitions x 20", "get_partitions_statistics_req", _statistics),
    Kind("aggregate of 1,000 x 20", "get_aggr_stats_for", _aggregate),
    Kind("the same with bit vectors", "get_aggr_stats_for", _sketched_aggregate),
    Kind("a partition's column", "get_partition_column_statistics", _one_column),
    Kind("100 partitions by a filter", "get_partitions_by_filter", _filter),
    Kind("names of all partitions", "get_partition_names", _every_name),
    Kind("update of a partition's column", "update_partition_column_statistics", _update),
)
