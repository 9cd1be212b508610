"""A server with all guards at once: tokens prove users, rules decide by users and groups, the audit log tells."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.fixtures.servers import HMSTATS, serving
from tests.server.access.guarded import done, raised, statistics, table
from tests.server.serving import Client

from hmstats.client import connect
from hmstats.client.metastore import Metastore
from hmstats.errors import CallRefused
from hmstats.model.catalog.names import table_name
from hmstats.wire.idl import hive_metastore as api

RULES = """
[[rule]]
groups = ["writers"]
objects = ["hive.d"]
allow = ["list", "read", "read_statistics", "write_statistics"]

[[rule]]
users = ["ada"]
objects = ["hive.d"]
allow = ["list", "read"]
"""


def made_token(database: str, name: str, user: str, *groups: str) -> str:
    options = [option for group in groups for option in ("--group", group)]
    command = [HMSTATS, "token", "create", name, "--user", user, *options, "--database", database]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def asking(port: int, secret: str | None, monkeypatch: pytest.MonkeyPatch) -> Metastore:
    if secret is None:
        monkeypatch.delenv("HMSTATS__TOKEN", raising=False)
    else:
        monkeypatch.setenv("HMSTATS__TOKEN", secret)
    return connect(f"http://127.0.0.1:{port}")


@pytest.mark.slow
def test_a_proven_user_may_do_what_the_rules_say_and_leaves_a_record(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, audit = tmp_path / "rules.toml", tmp_path / "audit.jsonl"
    rules.write_text(RULES)
    with serving(tmp_path, database=database_url) as port, Client(("127.0.0.1", port)) as client:
        done(client.ask("create_database", database=api.Database(name="d", description="", parameters={})))
        for name in ("t", "u"):
            done(client.ask("create_table", tbl=table("d", name)))
        done(client.ask("update_table_column_statistics", stats_obj=statistics("d", "t")))
    etl, ada = made_token(database_url, "nightly", "etl", "writers"), made_token(database_url, "hers", "ada")
    settings = {
        "authentication": '["token"]',
        "rules": rules,
        "audit": "all",
        "audit_file": audit,
        "audit_table_days": 1,
    }
    with serving(tmp_path, database=database_url, settings=settings) as port:
        with asking(port, etl, monkeypatch) as service:
            columns = service.table_statistics(table_name("d", "t"), ["l"])
            assert [each.column for each in columns] == ["l"]
            service.delete_statistics("d.t")
            assert service.table_statistics(table_name("d", "t"), ["l"]) == ()
        with asking(port, ada, monkeypatch) as service:
            assert service.find_table(table_name("d", "t")) is not None
            with pytest.raises(CallRefused, match=r"ada may not read_statistics hive\.d\.t"):
                service.table_statistics(table_name("d", "t"), ["l"])
        with asking(port, None, monkeypatch) as service, pytest.raises(CallRefused, match="status 401"):
            service.find_table(table_name("d", "t"))
        with Client(("127.0.0.1", port)) as stranger:
            answer = raised(stranger.ask("get_table", dbname="d", tbl_name="t"))
            assert "authenticated clients only" in str(answer.message)
    told = [json.loads(line) for line in audit.read_text().splitlines()]
    seen = {(each["principal"], each["mechanism"], each["call"], each["allowed"], each["rule"]) for each in told}
    assert ("etl", "token", "get_table_statistics_req", True, 1) in seen
    assert ("ada", "token", "get_table_statistics_req", False, 2) in seen
    assert (None, None, None, False, None) in seen
    assert (None, None, "get_table", False, None) in seen
    assert {each["outcome"] for each in told if each["principal"] is None} == {"NotAuthenticated"}
    assert not [line for line in (etl, ada) if line in audit.read_text() + (tmp_path / "server.log").read_text()]
    listed = subprocess.run(
        [HMSTATS, "audit", "d.t", "--json", "--database", database_url], check=True, capture_output=True, text=True
    )
    stored = sorted(listed.stdout.splitlines())
    assert stored == sorted(
        json.dumps({name: value for name, value in each.items() if name != "event"})
        for each in told
        if "hive.d.t" in each["objects"]
    )
