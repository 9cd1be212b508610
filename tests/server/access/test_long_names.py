"""Names that are longer than any stored one, in calls of a user without rights, asked over sockets."""

import json
import logging
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.access.guarded import Guarded, done, guarded, raised, table

from hmstats.server.calls.audit import AuditLog
from hmstats.wire.idl import hive_metastore as api

LONG = 1_000_000
NAMES = [str(number) for number in range(1_000)]
RULES = '[[rule]]\nobjects = ["hive.*e*x*y", "hive.open.*x*y"]\nallow = ["list"]\n'


@pytest.fixture
def server(sqlite_url: str, tmp_path: Path) -> Iterator[Guarded]:
    logging.getLogger("hmstats.audit").setLevel(logging.INFO)
    with guarded(sqlite_url, tmp_path, AuditLog()) as running:
        running.rule(RULES)
        yield running


def _wanted(database: str) -> Any:
    return api.GetTablesRequest(dbName=database, tblNames=NAMES)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("get_table_objects_by_name", lambda name: {"dbname": name, "tbl_names": NAMES}),
        ("get_table_objects_by_name_req", lambda name: {"req": _wanted(name)}),
    ],
)
def test_a_long_name_is_not_held_for_each_table_that_is_asked_for(server: Guarded, call: str, arguments: Any) -> None:
    eve = server.client("eve")
    tracemalloc.start()
    eve.ask(call, **arguments("d" * LONG))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 40 * LONG


@pytest.mark.parametrize("long", ["x" * LONG, "\u00e9" * LONG], ids=["ascii", "others"])
def test_a_denied_call_leaves_short_lines_in_the_logs(
    server: Guarded, long: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    eve, root = server.client("eve"), server.client("root")
    with caplog.at_level(logging.INFO, "hmstats.audit"):
        raised(eve.ask("drop_table", dbname="open", name=long, deleteData=False))
        raised(eve.ask("create_table", tbl=table(long, "t")))
        raised(root.ask("drop_table", dbname=long, name="t", deleteData=False))
    lines = [each.message for each in caplog.records if each.name == "hmstats.audit"]
    assert [json.loads(each)["call"] for each in lines] == ["drop_table", "create_table", "drop_table"]
    assert json.loads(lines[0])["objects"] == [f"hive.open.{long[:256]}\u2026"]
    assert json.loads(lines[1])["objects"] == [f"hive.{long[:256]}\u2026.t"]
    assert max(map(len, lines)) < 5_000
    assert max(map(len, capsys.readouterr().out.splitlines())) < 5_000


def test_many_objects_of_a_call_are_recorded_up_to_a_number(server: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    names = [f"open.{number}" for number in range(20_000)]
    with caplog.at_level(logging.INFO, "hmstats.audit"):
        components = [api.LockComponent(type=1, level=2, dbname="open", tablename=name) for name in names]
        done(server.client("root").ask("lock", rqst=api.LockRequest(component=components, user=None, hostname="h")))
    (line,) = (json.loads(each.message) for each in caplog.records if each.name == "hmstats.audit")
    assert line["objects"] == ["the server", *(f"hive.open.{name}" for name in names[:9_999])]
