"""`hmstats audit`: which records it prints, for people and for programs, and that nothing in them is obeyed."""

import json
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner, Result

from hmstats.cli.main import app
from hmstats.errors import SettingsError, StatementError
from hmstats.model.access.audit_record import AuditRecord
from hmstats.service.access.audit_records import AuditRecords, Numbered
from hmstats.store.database.store import Store

PLAIN = AuditRecord(0, 0, 7, "10.0.0.5:5000", "ada", "token", "ada", "drop_table", ("hive.d.t",), True, 2, "ok")
HOUR_MS = 3_600_000


def audit(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["audit", *arguments, "--database", url], catch_exceptions=False)


@pytest.fixture
def url(sqlite_url: str) -> str:
    now = replace(PLAIN, time_ms=round(time.time() * 1000))
    stored = [
        replace(now, time_ms=now.time_ms - 5 * HOUR_MS, call="create_table"),
        replace(now, objects=("hive.d.t", "hive.d.u"), call="alter_table", time_ms=now.time_ms - 3 * HOUR_MS),
        replace(now, time_ms=now.time_ms - HOUR_MS, allowed=False, principal="eve", outcome="MetaException"),
        replace(now, objects=("hive.[red]x\x1b[2J.t",), principal=None, user="[b]x\n", call=None),
    ]
    store = Store.open(sqlite_url)
    AuditRecords(store).add([Numbered(1, number, each) for number, each in enumerate(stored)])
    store.close()
    return sqlite_url


def calls(result: Result) -> list[str]:
    assert result.exit_code == 0
    return [json.loads(line)["call"] for line in result.stdout.splitlines()]


def test_the_wanted_records_are_printed_the_newest_first(url: str) -> None:
    assert calls(audit(url, "--json")) == [None, "drop_table", "alter_table", "create_table"]
    assert calls(audit(url, "d.T", "--json")) == ["drop_table", "alter_table", "create_table"]
    assert calls(audit(url, "hive.d.u", "--json")) == ["alter_table"]
    assert calls(audit(url, "D", "--json", "--since", "2h")) == ["drop_table"]
    assert calls(audit(url, "--json", "--user", "eve")) == ["drop_table"]
    assert calls(audit(url, "--json", "--denied")) == ["drop_table"]
    assert calls(audit(url, "x.y", "--json")) == []
    assert audit(url, "x").stdout == "no records\n"


def test_where_no_records_are_kept_it_says_so(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert audit(sqlite_url).stdout.startswith("no records: a server keeps none while audit_table_days is 0")
    assert audit(sqlite_url, "--json").stdout == ""
    monkeypatch.setenv("HMSTATS__AUDIT_TABLE_DAYS", "7")
    assert audit(sqlite_url).stdout == "no records\n"


def test_a_record_for_programs_is_the_line_of_the_log(url: str) -> None:
    (line,) = audit(url, "--json", "--user", "eve").stdout.splitlines()
    record = json.loads(line)
    assert record.pop("time").endswith("+00:00")
    assert record == {
        "worker": 0,
        "connection": 7,
        "address": "10.0.0.5:5000",
        "principal": "eve",
        "via": None,
        "mechanism": "token",
        "user": "ada",
        "call": "drop_table",
        "objects": ["hive.d.t"],
        "allowed": False,
        "rule": 2,
        "outcome": "MetaException",
    }


def test_it_is_told_that_older_records_were_left_out(url: str) -> None:
    cut = audit(url, "d.t", "--limit", "2")
    assert "create_table" not in cut.stdout
    assert cut.stderr == "older records were left out: --limit is 2\n"
    assert audit(url, "d.t", "--limit", "3").stderr == ""


def test_names_of_clients_are_shown_and_not_obeyed(url: str) -> None:
    shown = audit(url).stdout
    assert "hive.[red]x\ufffd[2J.t" in shown
    assert "[b]x\ufffd (unproven)" in shown
    assert "denied: MetaException" in shown
    assert "\x1b" not in shown


def test_a_name_and_a_time_that_are_none_are_named(url: str) -> None:
    with pytest.raises(StatementError, match=r"a table must be named as DB\.TABLE"):
        audit(url, "a.b.c.d")
    with pytest.raises(SettingsError, match="--since must be a number and w, d, h, m or s, as 90d, found '2'"):
        audit(url, "--since", "2")
