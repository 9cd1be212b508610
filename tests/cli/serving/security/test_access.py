"""A server as it is started: rules that change while it runs, its audit log, its warnings."""

import json
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.fixtures.servers import serving
from tests.server.access.guarded import done, raised, statistics, table
from tests.server.serving import PATIENCE_SECONDS, Client

from hmstats.cli.serving.security.access import audit_of, warn_of_strangers
from hmstats.errors import SettingsError
from hmstats.settings import Settings, load
from hmstats.store.database.store import Store
from hmstats.wire.idl import hive_metastore as api

ALL = '[[rule]]\nallow = ["list", "read", "create", "write_statistics"]\n'
NO_MORE = '[[rule]]\nobjects = ["hive.d"]\nallow = []\n'


@pytest.mark.slow
def test_rules_change_while_a_server_runs_and_its_audit_log_tells(tmp_path: Path) -> None:
    rules, audit = tmp_path / "rules.toml", tmp_path / "audit.jsonl"
    rules.write_text(ALL)
    settings = {"rules": rules, "audit": "writes", "audit_file": audit, "log_level": "error"}
    with serving(tmp_path, settings=settings) as port, Client(("127.0.0.1", port)) as client:
        done(client.ask("create_database", database=api.Database(name="d", description="", parameters={})))
        done(client.ask("create_table", tbl=table("d", "t")))
        done(client.ask("update_table_column_statistics", stats_obj=statistics("d", "t")))
        done(client.ask("get_table", dbname="d", tbl_name="t"))
        rules.write_text(NO_MORE + ALL)
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until and client.ask("get_all_tables", db_name="d").value:
            time.sleep(0.05)
        assert raised(client.ask("get_table", dbname="d", tbl_name="t")).message == "hive.d.t table not found"
    told = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [(each["call"], each["objects"], each["allowed"], each["rule"]) for each in told] == [
        ("create_database", ["hive.d"], True, 1),
        ("create_table", ["hive.d.t"], True, 1),
        ("update_table_column_statistics", ["hive.d.t"], True, 1),
        ("get_table", ["hive.d.t"], False, 1),
    ]
    log = [json.loads(line) for line in (tmp_path / "server.log").read_text().splitlines()]
    assert [each for each in log if each["event"] == "audit"] == told


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"audit": "off"}, "audit_table_days needs the setting audit = writes or all, found off"),
        ({"audit": "all", "read_only": "true"}, "a server that only reads keeps no audit records in its database"),
    ],
)
def test_a_table_of_records_that_would_stay_empty_is_an_error(
    given: dict[str, str], sentence: str, store: Store
) -> None:
    with pytest.raises(SettingsError, match=sentence):
        audit_of(_settings(audit_table_days="1", **given), store, 0)


def _settings(**given: str) -> Settings:
    return load(given)


def test_a_server_that_others_reach_warns_once() -> None:
    with capture_logs() as log:
        warn_of_strangers(_settings(host="127.0.0.1"))
        assert log == []
        warn_of_strangers(_settings(host="0.0.0.0"))
        warn_of_strangers(_settings(host="0.0.0.0", rules="rules.toml"))
    assert [each["consequence"] for each in log] == [
        "everybody who reaches it may read and change everything",
        "everybody who reaches it may do what the rules allow to anonymous",
    ]
