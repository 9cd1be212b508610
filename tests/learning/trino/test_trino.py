"""What Trino 483 said of its queries (testdata/queries): the text and the event teach the same."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hmstats.learning.skipped import Skipped
from hmstats.learning.sources import queries_in
from hmstats.learning.trino.events import event_query
from hmstats.learning.trino.explained import parse_descriptor, queries
from hmstats.learning.trino.predicates import used
from hmstats.model.feedback.misestimates import misestimates, shape_of
from hmstats.model.feedback.queries import Query, Use

DATA = Path(__file__).parents[2] / "testdata" / "queries"
TEXT, EVENT = DATA / "trino-483-explain-analyze.txt", DATA / "trino-483-event-join.json"
BARE = DATA / "trino-483-event-no-estimates.json"


def only(path: Path) -> Query:
    skipped = Skipped()
    (found,) = queries_in([path], skipped)
    assert skipped == Skipped()
    return found


@pytest.mark.parametrize("path", [TEXT, EVENT], ids=["text", "event"])
def test_the_filter_is_blamed_and_the_joins_are_not(path: Path) -> None:
    (found,) = misestimates(only(path))
    assert [(each.table.table, each.column, each.use.value) for each in found.uses] == [
        ("orders", "orderpriority", "equality"),
        ("orders", "totalprice", "range"),
        ("orders", "clerk", "function"),
    ]
    assert (round(found.estimated or 0), found.rows, round(found.factor, 1)) == (2_699, 341, 7.9)


def test_text_and_event_have_one_shape() -> None:
    text, event = only(TEXT), only(EVENT)
    assert shape_of(text) == shape_of(event)
    assert [round(each.seconds, 2) for each in (text, event)] == [14.92, 8.16]
    assert event.at_ms == 1_795_619_461_032
    assert {str(each) for each in event.tables} == {"hive.shop.orders", "hive.shop.customer", "hive.shop.nation"}


def test_an_event_whose_optimizer_asked_for_no_statistics_has_no_estimates() -> None:
    assert not only(BARE).has_estimates


def test_several_texts_and_events_in_a_file(tmp_path: Path) -> None:
    texts, events, lines = tmp_path / "a.txt", tmp_path / "b.json", tmp_path / "c.jsonl"
    texts.write_text(TEXT.read_text() * 3)
    events.write_text(json.dumps([json.loads(EVENT.read_text())] * 2))
    lines.write_text("\n".join([json.dumps(json.loads(EVENT.read_text())), "{broken", "", "[]"]))
    skipped = Skipped()
    assert len(list(queries_in([texts, events], skipped))) == 5
    assert skipped == Skipped()
    assert len(list(queries_in([lines], skipped))) == 1
    assert skipped.broken_lines == 2


def _changed(path: str, value: Any) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(EVENT.read_text())
    part, name = path.split(".")
    event[part][name] = value
    return event


def _with_counts(number: int) -> dict[str, Any]:
    scan = {"operatorType": "TableScanOperator", "planNodeId": "0", "inputPositions": number, "outputPositions": number}
    return _changed("statistics.operatorSummaries", [scan])


def _reading(fragment: int) -> dict[str, Any]:
    """A fragment that reads another one twice, which would be as many nodes as 2 to the power of their number."""
    return {"id": "1", "name": "RemoteSource", "descriptor": {"sourceFragmentIds": f"[{fragment}, {fragment}]"}}


@pytest.mark.parametrize(
    "event",
    [
        _changed("metadata.queryState", "FAILED"),
        _changed("metadata.jsonPlan", None),
        _changed("metadata.jsonPlan", "{"),
        _changed("metadata.jsonPlan", "[]"),
        _changed("metadata.jsonPlan", {"0": {"id": "1"}}),
        _changed("statistics.operatorSummaries", [{"operatorType": "TableScanOperator"}]),
        _changed("statistics.executionTime", "soon"),
        {**json.loads(EVENT.read_text()), "createTime": float("inf")},
        {**json.loads(EVENT.read_text()), "createTime": 1e30},
        {**json.loads(EVENT.read_text()), "createTime": "0001-01-01T00:00:00Z"},
        _with_counts(-1),
        _with_counts(10**30),
        _with_counts(10**400),
        _changed("metadata.jsonPlan", {str(each): _reading(each + 1) for each in range(40)}),
        _changed("metadata.jsonPlan", {str(each): _reading(each) for each in range(40)}),
        {},
    ],
)
def test_events_that_teach_nothing(event: dict[str, Any]) -> None:
    assert event_query(event) is None


def test_a_text_that_is_cut_anywhere() -> None:
    text = TEXT.read_text()
    for end in range(0, len(text), 97):
        for each in queries(text[:end], 0):
            misestimates(each)


@pytest.mark.parametrize(
    "lines",
    [
        [
            f"Fragment {each} [SINGLE]\n    RemoteSource[sourceFragmentIds = [{each + 1}, {each + 1}]]"
            for each in range(40)
        ],
        ["Fragment 0 [SINGLE]\n    Output[a = 1]", *(f"{' ' * (4 + 3 * each)}└─ Project[]" for each in range(3_000))],
        ["Fragment 0 [SINGLE]\n    Output[a = 1]", f"    CPU: 1ms, Output: {'9' * 400} rows"],
        ["Fragment 0 [SINGLE]\n    Output[a = 1]", "    Estimates: {rows: 1.2.3 (1B)}"],
        ["Execution: 1.2.3s", "Fragment 0 [SINGLE]\n    Output[a = 1]"],
    ],
    ids=["fragments read twice", "deep", "many rows", "no number", "no time"],
)
def test_texts_that_teach_nothing(lines: list[str]) -> None:
    assert list(queries("\n".join(["Trino version: 483", *lines]), 0)) == []


def test_numbers_that_cannot_be_true_are_unknown() -> None:
    event = _changed("statistics.executionTime", 1e308)
    plan = re.sub(r'("outputRowCount"\s*:\s*)[^,}]+', r"\g<1>-5.0", event["metadata"]["jsonPlan"])
    event["metadata"]["jsonPlan"] = plan
    found = event_query(event)
    assert found is not None
    assert found.seconds == 1.0
    assert not found.has_estimates


def test_parts_of_a_descriptor() -> None:
    text = (
        "table = hive:s:t constraint on [a, b], filterPredicate = ((a = 'x, b = (') AND (c IN (1, 2))), keys = [d, e]"
    )
    assert parse_descriptor(text) == {
        "table": "hive:s:t constraint on [a, b]",
        "filterPredicate": "((a = 'x, b = (') AND (c IN (1, 2)))",
        "keys": "[d, e]",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a = varchar(15) '1-URGENT')", {("a", Use.EQUALITY)}),
        ("(a = varchar(15) 'b < c AND b')", {("a", Use.EQUALITY)}),
        ("(double '1000.0' < a)", {("a", Use.RANGE)}),
        ("(a BETWEEN bigint '1' AND bigint '2')", {("a", Use.RANGE)}),
        ("($not((a IS NULL)) AND (b IN (varchar(10) 'X', varchar(10) 'Y')))", {("a", Use.NULLS), ("b", Use.EQUALITY)}),
        ("$like(a, LikePattern '[%7]')", {("a", Use.FUNCTION)}),
        ("(lower(a) = varchar 'x')", {("a", Use.FUNCTION)}),
        ("$not((a = bigint '1'))", {("a", Use.FUNCTION)}),
        ("(a = b)", {("a", Use.FUNCTION), ("b", Use.FUNCTION)}),
        ("(other = bigint '1')", set()),
    ],
)
def test_conditions(text: str, expected: set[tuple[str, Use]]) -> None:
    assert set(used(text, {"a", "b"})) == expected
