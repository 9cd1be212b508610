"""Queries as Spark 3.5 and 4.3 have logged them (testdata/queries): the two versions teach the same."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hmstats.learning.skipped import Skipped
from hmstats.learning.spark.executions import executions
from hmstats.learning.spark.log_files import lines
from hmstats.learning.spark.logical_plan import operations
from hmstats.learning.spark.queries import query
from hmstats.model.feedback.misestimates import misestimates, shape_of
from hmstats.model.feedback.queries import Operation, Operator, Query, Use

DATA = Path(__file__).parents[2] / "testdata" / "queries"
VERSIONS = ("3.5", "4.3")


def logged(path: Path) -> Iterator[Query]:
    skipped = Skipped()
    for each in executions(lines([path], skipped), skipped):
        if (found := query(each)) is not None and found.tables:
            yield found
    assert skipped == Skipped()


def uses(found: tuple[object, ...]) -> list[str]:
    return [f"{each.table.table}.{each.column} {each.use}" for each in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_went_wrong_by_itself(version: str) -> None:
    found = [
        (uses(each.uses), round(each.estimated or 0), each.rows, round(each.factor, 1))
        for one in logged(DATA / f"spark-{version}.jsonl")
        for each in misestimates(one)
    ]
    assert found == [
        (["orders.status equality"], 6_670, 200, 33.4),
        (["orders.status equality", "orders.price range", "orders.customer nulls"], 4_450, 458, 9.7),
        (["orders.status equality", "orders.id nulls"], 6_670, 19_000, 2.8),  # and not the join above
        (["customers.customer_id join", "orders.customer join"], 20_000, 800, 25.0),
    ]


def test_both_versions_have_the_same_shapes() -> None:
    one, other = ([shape_of(each) for each in logged(DATA / f"spark-{version}.jsonl")] for version in VERSIONS)
    assert one == other
    assert len(one) == len(set(one)) == 9


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_not_counted_is_unknown(version: str) -> None:
    """Below a limit, below a sort by ranges (which reads twice), and before partitions that were chosen."""
    filters = {
        tuple(uses(each.uses)): each.rows
        for one in logged(DATA / f"spark-{version}.jsonl")
        for each in one.root.walk()
        if each.operator is Operator.FILTER
    }
    assert filters["orders.id range",] is None
    assert filters["customers.name function", "customers.nation equality"] is None
    assert filters["visits.day equality",] == 1_000
    assert filters["orders.note nulls",] == 400  # below a count of distinct values, which runs in four steps


@pytest.mark.parametrize("version", VERSIONS)
def test_a_log_that_is_cut_anywhere_or_has_garbage_inside(version: str, tmp_path: Path) -> None:
    """Every prefix gives what ended within it; broken lines are counted, and cost nothing else."""
    text = (DATA / f"spark-{version}.jsonl").read_bytes()
    whole = [shape_of(each) for each in logged(DATA / f"spark-{version}.jsonl")]
    for part in range(0, len(text), len(text) // 40):
        skipped = Skipped()
        path = tmp_path / f"log-{part}"
        path.write_bytes(text[:part])
        found = [made for each in executions(lines([path], skipped), skipped) if (made := query(each)) is not None]
        shapes = [shape_of(each) for each in found if each.tables]
        assert shapes == whole[: len(shapes)]
        assert skipped.broken_lines <= 1
    broken = b"\n".join(b"{nonsense\n\xff\xfe" + each for each in text.split(b"\n"))
    skipped = Skipped()
    path = tmp_path / "broken"
    path.write_bytes(broken)
    assert list(executions(lines([path], skipped), skipped)) == []
    assert skipped.broken_lines > 20


def test_events_that_are_not_as_expected_are_counted(tmp_path: Path) -> None:
    start = {"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"}
    events = [start, {**start, "executionId": "x", "time": 1, "physicalPlanDescription": "", "sparkPlanInfo": {}}]
    path = tmp_path / "log"
    path.write_text("\n".join(json.dumps(each) for each in events))
    skipped = Skipped()
    assert list(executions(lines([path], skipped), skipped)) == []
    assert skipped.broken_lines == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_a_plan_that_spark_has_cut_teaches_nothing_wrong(version: str) -> None:
    """As it does with spark.sql.maxPlanStringLength, anywhere in the text."""
    skipped = Skipped()
    for each in executions(lines([DATA / f"spark-{version}.jsonl"], skipped), skipped):
        whole = query(each)
        known = [] if whole is None else [(one.uses, one.estimated, one.rows) for one in misestimates(whole)]
        for length in range(0, len(each.text), 5):
            cut = query(replace(each, text=f"{each.text[:length]}... {len(each.text) - length} more characters"))
            found = [] if cut is None else [(one.uses, one.estimated, one.rows) for one in misestimates(cut)]
            assert [one for one in found if one not in known] == []


def test_a_plan_of_what_ran_that_is_not_as_expected_teaches_nothing() -> None:
    skipped = Skipped()
    logs = lines([DATA / "spark-4.3.jsonl"], skipped)
    execution = next(each for each in executions(logs, skipped) if (found := query(each)) and found.tables)
    for value in ((), 7, "x", None, [1], {"accumulatorId": 1}):
        assert query(replace(execution, tree={"nodeName": "Scan x", "metadata": 7, "metrics": value})) is None


def test_counts_without_end_are_broken_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    kinds = ("SQLExecutionStart", "SQLExecutionEnd", "DriverAccumUpdates")
    names = [f"org.apache.spark.sql.execution.ui.SparkListener{each}" for each in kinds]
    more = '"time": Infinity, "physicalPlanDescription": "", "sparkPlanInfo": {}, "accumUpdates": [[1, Infinity]]'
    log.write_text("".join(f'{{"Event": "{each}", "executionId": 1e999, {more}}}\n' for each in names))
    skipped = Skipped()
    assert list(executions(lines([log], skipped), skipped)) == []
    assert skipped.broken_lines == 3


@pytest.mark.parametrize("depth", [300, 1_000, 4_000])
def test_a_plan_that_is_deep_is_no_error(depth: int) -> None:
    skipped = Skipped()
    logs = lines([DATA / "spark-4.3.jsonl"], skipped)
    execution = next(each for each in executions(logs, skipped) if (found := query(each)) and found.tables)
    nodes = [f"{'   ' * number}+- Filter (a#1 > 5), Statistics(sizeInBytes=1.0 B)" for number in range(depth)]
    text = "\n".join(["== Optimized Logical Plan ==", nodes[0][3:], *nodes[:-1], "", "== Physical Plan =="])
    found = query(replace(execution, text=text))
    assert found is None or list(misestimates(found)) == []


def test_an_estimate_without_end_is_none() -> None:
    """Spark's numbers of rows are as long as it takes: those of many joins without keys are beyond a double."""
    scan = "Relation spark_catalog.shop.t[a#1] parquet, Statistics(sizeInBytes=1.0 B, rowCount=1.00E+400)"
    root = operations(f"== Optimized Logical Plan ==\n{scan}\n\n== Physical Plan ==")
    assert root is not None
    assert root.estimated is None


def test_counts_that_no_engine_has_are_none(tmp_path: Path) -> None:
    text = (DATA / "spark-4.3.jsonl").read_text()
    for value in ("-5", "1" + "0" * 30, "1" + "0" * 400):
        log = tmp_path / "log"
        log.write_text(re.sub(r'("Value":)"?\d+"?', rf"\g<1>{value}", text))
        skipped = Skipped()
        found = [each for one in executions(lines([log], skipped), skipped) if (each := query(one)) is not None]
        assert found
        rows = [each.rows for one in found for each in misestimates(one)]
        assert all(0 <= each < 2**63 for each in rows)
        assert (skipped.broken_lines > 0) == (value != "-5")


def test_memory_does_not_grow_with_executions_that_never_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmstats.learning.spark.executions.MOST_EXECUTIONS", 10)
    name = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
    tree = {"nodeName": "Scan x", "children": [], "metrics": []}
    events = [
        {"Event": name, "executionId": number, "time": 1, "physicalPlanDescription": "", "sparkPlanInfo": tree}
        for number in range(50)
    ]
    path = tmp_path / "log"
    path.write_text("\n".join(json.dumps(each) for each in events))
    skipped = Skipped()
    assert list(executions(lines([path], skipped), skipped)) == []
    assert skipped.lost_executions == 40


def test_a_plan_of_a_subquery_and_of_a_literal_with_a_line_break() -> None:
    text = """== Optimized Logical Plan ==
Filter (isnotnull(a#1) AND ((a#1 = x
y) AND (b#2L > 5))), Statistics(sizeInBytes=1.0 B, rowCount=1.50E+3)
:  +- Aggregate [max(c#5) AS m#6], Statistics(sizeInBytes=1.0 B)
:     +- Relation spark_catalog.shop.other[c#5] parquet, Statistics(sizeInBytes=1.0 B)
+- Relation spark_catalog.shop.t[a#1,b#2L] parquet, Statistics(sizeInBytes=1.0 B, rowCount=2.00E+4)

== Physical Plan =="""
    root = operations(text)
    assert root is not None
    assert (root.operator, root.estimated, len(root.inputs)) == (Operator.FILTER, 1_500, 1)
    scan: Operation = root.inputs[0]
    assert (str(scan.table), scan.estimated) == ("hive.shop.t", 20_000)
    assert {(each.column, each.use) for each in root.uses} >= {("a", Use.EQUALITY)}
