"""The job log: one JSON line of each analysis."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hmstats.collector.job_log import JobLog
from hmstats.collector.report import Finding, Report
from hmstats.errors import SettingsError, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.version import __version__

REPORT = Report(
    table=TableName("hive", "db", "t"),
    whole=Finding(5, 100, 2, ()),
    partitions=3,
    rows=5,
    skipped={"list": "type array<int> has no statistics"},
    seconds={"plan": 0.12345, "read": 2.0},
    files=2,
    bytes=100,
    unchanged=1,
    columns=("a", "ü"),
)


def test_a_line_for_each_table(tmp_path: Path) -> None:
    log = JobLog(tmp_path / "jobs.log")
    log.add_report(REPORT)
    log.add_failure("db.u", StatementError("table db.u\nis gone"))
    done, failed = (json.loads(line) for line in log.path.read_text(encoding="utf-8").splitlines())
    assert done.pop("at").endswith("+00:00")
    assert done == {
        "tool": f"hmstats {__version__}",
        "outcome": "done",
        "table": "db.t",
        "catalog": "hive",
        "partitions": 3,
        "unchanged": 1,
        "rows": 5,
        "files": 2,
        "bytes": 100,
        "columns": ["a", "ü"],
        "skipped": {"list": "type array<int> has no statistics"},
        "failed": {},
        "spooled": 0,
        "waiting": {},
        "locked": [],
        "left_out": None,
        "puffin_file": None,
        "read_bytes": None,
        "requests": None,
        "puffin_columns": [],
        "seconds": {"plan": 0.123, "read": 2.0},
    }
    assert (failed["outcome"], failed["table"], failed["error"]) == ("failed", "db.u", "table db.u\nis gone")


def test_lines_are_added(tmp_path: Path) -> None:
    for _ in range(3):
        JobLog(tmp_path / "jobs.log").add_report(REPORT)
    assert len((tmp_path / "jobs.log").read_text().splitlines()) == 3


def test_a_log_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    log = JobLog(tmp_path / "none" / "jobs.log")
    for act in (log.check, lambda: log.add_report(REPORT)):
        with pytest.raises(SettingsError, match=r"job log .*none/jobs\.log cannot be written: No such file"):
            act()


def test_a_check_writes_nothing(tmp_path: Path) -> None:
    JobLog(tmp_path / "jobs.log").check()
    assert (tmp_path / "jobs.log").read_text() == ""


def test_a_line_of_any_length_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes share the file: two writes of one line would let another's line stand between them."""
    report = replace(REPORT, failed={f"k={number}": "file cannot be read" for number in range(10_000)})
    writes: list[int] = []
    real = io.FileIO.write

    class Counted(io.FileIO):
        def write(self, data: Any) -> int:
            writes.append(len(data))
            return real(self, data)

    monkeypatch.setattr(Path, "open", lambda self, mode, buffering=-1: Counted(self, mode.replace("b", "")))
    JobLog(tmp_path / "jobs.log").add_report(report)
    assert len(writes) == 1
    assert writes[0] > 100_000
