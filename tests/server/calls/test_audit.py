"""Which calls leave a line in the audit log, and what it says."""

import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.access.guarded import done, guarded, raised, statistics, table
from tests.server.serving import Client

from hmstats.errors import SettingsError
from hmstats.server.calls.audit import AuditLog, send_audit_to
from hmstats.wire.idl import hive_metastore as api

READER = '[[rule]]\nusers = ["ada"]\nobjects = ["hive.open"]\nallow = ["list", "read", "read_statistics"]\n'


class Lines(logging.Handler):
    """What was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(json.loads(record.getMessage()))

    def told(self, *keys: str) -> list[tuple[Any, ...]]:
        """These fields of all lines; forgets them."""
        found = [tuple(line[key] for key in keys) for line in self.lines]
        self.lines.clear()
        return found


@pytest.fixture
def lines() -> Iterator[Lines]:
    log, handler = logging.getLogger("hmstats.audit"), Lines()
    before = log.level, log.handlers[:]
    send_audit_to(None)
    log.addHandler(handler)
    yield handler
    log.setLevel(before[0])
    log.handlers = before[1]


def _read(client: Client, database: str = "open") -> Any:
    request = api.TableStatsRequest(dbName=database, tblName="t", colNames=["l"], engine="hive")
    return client.ask("get_table_statistics_req", request=request)


def test_changes_and_denied_calls_are_recorded(lines: Lines, sqlite_url: str, tmp_path: Path) -> None:
    with guarded(sqlite_url, tmp_path, AuditLog(worker=3)) as server:
        server.rule(READER)
        lines.lines.clear()
        ada = server.client("ada")
        done(_read(ada))
        assert lines.lines == []
        raised(_read(ada, "shut"))
        raised(ada.ask("drop_table", dbname="open", name="t", deleteData=False))
        done(server.client("root").ask("update_table_column_statistics", stats_obj=statistics("open", "t")))
        first = dict(lines.lines[0])
        for key in ("time", "connection", "address"):
            assert first.pop(key)
        assert first == {
            "event": "audit",
            "worker": 3,
            "principal": "ada",
            "via": None,
            "mechanism": "kerberos",
            "user": "ada",
            "call": "get_table_statistics_req",
            "objects": ["hive.shut.t"],
            "allowed": False,
            "rule": None,
            "outcome": "NoSuchObjectException",
        }
        assert lines.told("principal", "call", "objects", "allowed", "rule")[1:] == [
            ("ada", "drop_table", ["hive.open.t"], False, 2),
            ("root", "update_table_column_statistics", ["hive.open.t"], True, 1),
        ]


def test_every_read_is_recorded_cached_ones_too(lines: Lines, sqlite_url: str, tmp_path: Path) -> None:
    with guarded(sqlite_url, tmp_path, AuditLog(1.0)) as server:
        server.rule(READER)
        ada = server.client("ada")
        lines.lines.clear()
        for _ in range(4):
            done(_read(ada))
            done(ada.ask("get_table", dbname="OPEN", tbl_name="t"))
        told = lines.told("call", "objects", "allowed", "rule")
        assert told[0::2] == [("get_table_statistics_req", ["hive.open.t"], True, 2)] * 4
        assert told[1::2] == [("get_table", ["hive.open.t"], True, 2)] * 4


def test_a_share_of_the_reads_is_recorded(lines: Lines, sqlite_url: str, tmp_path: Path) -> None:
    with guarded(sqlite_url, tmp_path, AuditLog(0.3)) as server:
        root = server.client("root")
        lines.lines.clear()
        for _ in range(300):
            done(_read(root))
        assert 30 < len(lines.told()) < 200
        for number in range(5):
            done(root.ask("create_table", tbl=table("open", f"n{number}")))
        assert len(lines.told()) == 5


def test_without_rules_objects_are_named_and_no_rule(lines: Lines, sqlite_url: str, tmp_path: Path) -> None:
    with guarded(sqlite_url, tmp_path, AuditLog(1.0), rules=False) as server:
        stranger = server.client(None)
        lines.lines.clear()
        stranger.ask("set_ugi", user_name="x\nroot", group_names=[])
        done(_read(stranger))
        done(_read(stranger))
        done(stranger.ask("drop_table", dbname="open", name="t", deleteData=False))
        assert lines.told("principal", "user", "call", "objects", "allowed", "rule") == [
            (None, "x\nroot", "set_ugi", [], True, None),
            (None, "x\nroot", "get_table_statistics_req", ["hive.open.t"], True, None),
            (None, "x\nroot", "get_table_statistics_req", ["hive.open.t"], True, None),
            (None, "x\nroot", "drop_table", ["hive.open.t"], True, None),
        ]


def test_a_proven_user_is_recorded_whatever_it_calls_itself(lines: Lines, sqlite_url: str, tmp_path: Path) -> None:
    with guarded(sqlite_url, tmp_path, AuditLog()) as server:
        server.rule(READER)
        ada = server.client("ada")
        lines.lines.clear()
        ada.ask("set_ugi", user_name="root", group_names=["admins"])
        raised(ada.ask("drop_table", dbname="open", name="t", deleteData=False))
        assert lines.told("principal", "user", "call", "allowed") == [("ada", "ada", "drop_table", False)]


def test_the_file_is_its_owners_and_is_made_anew_when_it_was_moved(lines: Lines, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    send_audit_to(str(file))
    log = logging.getLogger("hmstats.audit")
    log.info("{}")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.rename(tmp_path / "old.jsonl")
    log.info("{}")
    log.handlers.pop().close()
    assert file.read_text() == (tmp_path / "old.jsonl").read_text() == "{}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert lines.told() == [(), ()]


def test_a_file_that_cannot_be_written_is_an_error(lines: Lines, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"audit_file .* cannot be written: Is a directory"):
        send_audit_to(str(tmp_path))
    assert lines.told() == []
