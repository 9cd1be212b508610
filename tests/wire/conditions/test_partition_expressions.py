"""Conditions over partitions in Hive's bytes: each finds the partitions that the Hive which wrote it found.

The bytes and the answers come from Hive 2.3.10, 3.1.3 and 4.0.1 (tests/peers/hive_expressions).
"""

import base64
import json
import random
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

from hmstats.errors import UnknownExpression
from hmstats.model.catalog.names import NULL_PARTITION_VALUE
from hmstats.model.partitions.partition_expression import Call, Constant, Key, compile_expression
from hmstats.wire.conditions.partition_expressions import condition_from_bytes, expression_from_bytes

TESTS = Path(__file__).resolve().parents[2]
CONDITIONS = TESTS / "peers" / "hive_expressions" / "conditions.txt"
GENERATIONS = ("2.3", "3.1", "4.0")

UNREAD = (
    *("RLIKE", "rand(", "y + 1", "y - 1", "y * 2", "-y =", "y % 2", "2019 + 1", "year(", "month(", "day(", "date_add("),
)
"""What calls functions that are not read: Hive then looks for partitions itself."""
OF_HIVE_2_3 = {
    "a text is true unless it is empty": ("NOT o", "o = true", "o = false", "o <> true", "o IN (true)"),
    "nanoseconds are compared as doubles": ("t > TIMESTAMP '2023-12-31 23:59:59.999999998'",),
    "the null's text equals nothing": ("region = '__HIVE_DEFAULT_PARTITION__'",),
    "days of the Julian calendar are unknown": (
        "d = DATE '0001-01-01' OR d = DATE '1969-12-31' OR d = DATE '9999-12-31'",
    ),
}
"""Where Hive 2.3 finds other partitions than its successors, which are followed."""
FOLDED = ("b = -9223372036854775807", "c = -3", "n BETWEEN -5S AND 5")
"""What calls a minus in the bytes of 2.3 and 3.1: their planners make a constant of it before they ask a metastore."""


class Case(NamedTuple):
    """A condition: its keys with their types, the partitions that there are, and what a Hive said."""

    keys: list[tuple[str, str]]
    names: list[str]
    said: dict[str, Any]

    @property
    def data(self) -> bytes:
        """The condition's bytes."""
        return base64.b64decode(self.said["bytes"])


def cases(generation: str) -> Iterator[Case]:
    """Every condition that the Hive of a generation wrote and evaluated."""
    answers = (TESTS / "testdata" / "hive-expressions" / f"{generation}.jsonl").read_text().splitlines()
    told = iter(map(json.loads, answers))
    for group in CONDITIONS.read_text().split("\n\n"):
        keys, names, *conditions = group.strip().splitlines()
        typed = [(name, kind) for name, kind in (each.split(" ", 1) for each in keys.split(", "))]
        for condition in conditions:
            said = next(told)
            assert said["sql"] == condition
            if "found" in said:
                yield Case(typed, names.split(" "), said)


def found_by(case: Case) -> tuple[list[str], bool]:
    """The partitions that our reading of the bytes finds, and whether any was unknown."""
    answer = compile_expression(expression_from_bytes(case.data), case.keys, NULL_PARTITION_VALUE)
    found, unknown = [], False
    for name in case.names:
        values = [unquote(each.split("=", 1)[1]) for each in name.split("/")]
        said = answer(values)
        if said or (said is None and NULL_PARTITION_VALUE not in values):
            found.append(name)
            unknown = unknown or said is None
    return found, unknown


def is_unread(sql: str) -> bool:
    """Whether a condition calls what is not read."""
    return any(each in sql for each in UNREAD)


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hive 2.3 writes timestamps in its zone, which was UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("generation", GENERATIONS)
def test_finds_what_hive_finds(generation: str) -> None:
    other = {sql for each in OF_HIVE_2_3.values() for sql in each} if generation == "2.3" else set()
    other |= set(FOLDED) if generation != "4.0" else set()
    read = [case for case in cases(generation) if not is_unread(case.said["sql"]) and case.said["sql"] not in other]
    assert len(read) > 140
    differing = {
        case.said["sql"]: (found, (case.said["found"], case.said["unknown"]))
        for case in read
        if (found := found_by(case)) != (case.said["found"], case.said["unknown"])
    }
    assert differing == {}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_function_that_is_not_read_makes_a_condition_unknown(generation: str) -> None:
    unread = [case for case in cases(generation) if is_unread(case.said["sql"])]
    assert len(unread) > 10
    for case in unread:
        with pytest.raises(UnknownExpression, match=r"cannot be read|is not supported"):
            found_by(case)


def test_reads_the_tree() -> None:
    case = next(each for each in cases("4.0") if each.said["sql"] == "region != 'eu' AND y > 2019")
    tree = Call("and", (Call("!=", (Key("region"), Constant("eu"))), Call(">", (Key("y"), Constant(2019)))))
    assert expression_from_bytes(case.data) == tree


def test_a_filters_text_stays_a_text() -> None:
    assert condition_from_bytes(b"k = 'b'") == "k = 'b'"
    assert condition_from_bytes(b"") is condition_from_bytes(None) is None


def test_a_lone_byte_of_hive_4_is_no_condition() -> None:
    assert condition_from_bytes(b"\xff") is None


@pytest.mark.parametrize("generation", GENERATIONS)
def test_damaged_bytes_are_unknown_and_nothing_else(generation: str) -> None:
    chance = random.Random(7)
    originals = [case.data for case in cases(generation)]
    for _ in range(4_000):
        data = bytearray(chance.choice(originals))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            match chance.randrange(4):
                case 0:
                    data[at] = chance.randrange(256)
                case 1:
                    del data[at:]
                    data += b"\x01"
                case 2:
                    data[at:at] = chance.randbytes(chance.randint(1, 5))
                case 3:
                    del data[at : at + chance.randint(1, 9)]
            if not data:
                break
        try:
            compile_expression(expression_from_bytes(bytes(data)), [("region", "string"), ("y", "int")], "")(
                ["eu", "2019"]
            )
        except UnknownExpression:
            continue


def test_a_class_that_is_not_listed_is_not_read() -> None:
    data = next(cases("4.0")).data.replace(b"BooleanWritabl\xe5", b"BooleanWritabl\xe6")
    with pytest.raises(UnknownExpression, match=r"class 'org\.apache\.hadoop\.io\.BooleanWritablf' is not supported"):
        expression_from_bytes(data)


def test_depth_and_size_are_limited() -> None:
    lists = b"\x01\x01\x01java.util.ArrayLis\xf4\x01\x02" + b"\x01\x01\x01\x02" * 5_000
    with pytest.raises(UnknownExpression, match="150 inside each other"):
        expression_from_bytes(NAMED + lists)
    with pytest.raises(UnknownExpression, match="has at most"):
        expression_from_bytes(NAMED + bytes(5 * 1024 * 1024))
    huge = b"\x01\x01\x01java.util.ArrayLis\xf4\x01" + b"\x7f\xff\xff\xff\x0f" + struct.pack(">q", 0)
    with pytest.raises(UnknownExpression):
        expression_from_bytes(NAMED + huge)


NAMED = b"\x01\x00org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDes\xe3"
NOT = b"org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPNo\xf4"


def test_an_object_inside_itself_is_unknown() -> None:
    inside = b"\x01\x01\x01java.util.ArrayLis\xf4\x01\x82\x01\x00\x00\x02"
    with pytest.raises(UnknownExpression, match="inside each other"):
        expression_from_bytes(NAMED + inside + b"\x01\x02" + NOT + b"\x01\x00\x00\x00")


@pytest.mark.slow
def test_parts_that_many_refer_to_count_each_time() -> None:
    """Each of 60 functions has the next one as both its arguments: 2^60 parts in a few hundred bytes."""

    def function(level: int) -> bytes:
        number = 2 * level
        kind = b"\x01\x01" + (b"java.util.ArrayLis\xf4" if level == 0 else b"") + b"\x01"
        twice = b"\x83\x01\x00\x00" + function(level + 1) + bytes([number + 2 + 2]) if level < 60 else b"\x01"
        of = b"\x01\x02" + (NOT if level == 60 else b"") + b"\x01\x00"
        return b"\x01" + kind + twice + of + b"\x00\x00"

    with pytest.raises(UnknownExpression, match="at most 200000 parts"):
        expression_from_bytes(NAMED + function(0))
