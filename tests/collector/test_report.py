"""Reports at Python's prompt and in notebooks."""

from hmstats.collector.checking.report import CheckReport, Tally
from hmstats.collector.checking.seen import Limits
from hmstats.collector.checking.wrong import Wrong
from hmstats.collector.report import Finding, Report
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics

TABLE = TableName("hive", "sales", "orders")
COLUMN = ColumnStatistics("n", "bigint", LongStatistics(low=1, high=9, nulls=0, ndv=5, bit_vector=b"x" * 4_000))


def test_a_report_shows_counts_columns_and_what_was_left_out() -> None:
    report = Report(
        table=TABLE,
        whole=Finding(1_000, 4_096, 3, (COLUMN,)),
        partitions=2,
        rows=1_000,
        skipped={"list": "type array<int> has no statistics"},
        seconds={"read": 1.5, "publish": 0.5},
        files=3,
        bytes=4_096,
        unchanged=1,
        failed={"day=1": "gone"},
        spooled=2,
        waiting={"": "rows fall from 9 to 0", "day=2": "rows fall from 4 to 0"},
    )
    assert repr(report).splitlines() == [
        "sales.orders: 1,000 rows, 4,096 bytes, 3 files, 2 partitions",
        "Column  Type    Nulls  NDV  Min  Max  Avg len  Max len",
        "n       bigint  0      5    1    9    -        -",
        "left out: 1 partition with the same files as before",
        "left out: column list, type array<int> has no statistics",
        "failed: day=1: gone",
        "not stored yet: 2, which wait in the spool folder for hmstats push",
        "not in force yet: 2 of sales.orders, which wait for hmstats pending publish: rows fall from 9 to 0",
        "took 2.0 seconds",
    ]
    assert "<td>bigint</td>" in report._repr_html_()


def test_a_report_of_partitions_alone_has_no_columns() -> None:
    report = Report(table=TABLE, whole=None, partitions=1, rows=None, skipped={}, seconds={}, files=1, bytes=10)
    assert repr(report).splitlines()[0] == "sales.orders: 10 bytes, 1 file, 1 partition"


def test_a_check_shows_what_is_wrong() -> None:
    wrong = Wrong("day=1", "n", "ndv", 50, Limits(100, 110)).with_q_error()
    shown = repr(CheckReport(TABLE, Tally(checked=12, wrong=(wrong,), rows=1_000, rows_read=500), {"x": "is a map"}))
    assert shown.splitlines() == [
        "sales.orders: 12 numbers compared, 1 wrong; 500 of 1,000 rows read",
        "Partition  Column  Statistic  Stored  Must be     Off by  q-error",
        "day=1      n       ndv        50      100 to 110  -50     2",
        "left out: column x, is a map",
    ]
