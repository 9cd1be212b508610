"""What a user without rights to some tables learns from queries, and lists: all about the others."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.access.guarded import Guarded, guarded
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.client import connect
from hmstats.errors import CallRefused
from hmstats.learning.learn import learn
from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.queries import Operation, Operator, Query

RULES = """
[[rule]]
users = ["ada"]
objects = ["hive.open"]
allow = ["list", "read", "read_statistics", "write_statistics"]
[[rule]]
users = ["ada"]
objects = ["hive.shut.t"]
allow = ["list", "read", "read_statistics"]
[[rule]]
users = ["ada"]
objects = ["hive.shut.p"]
allow = ["list", "read"]
"""
OWN, READABLE, SHOWN = TableName("hive", "open", "t"), TableName("hive", "shut", "t"), TableName("hive", "shut", "p")


@pytest.fixture
def server(sqlite_url: str, tmp_path: Path) -> Iterator[Guarded]:
    with guarded(sqlite_url, tmp_path) as running:
        running.rule(RULES)
        yield running


def _scanned(table: TableName) -> Query:
    """A query that read very many rows of a table, of which its engine expected ten."""
    return Query("spark", int(time.time() * 1_000) - 1_000, 5.0, Operation(Operator.SCAN, 10.0, 1_000_000, table=table))


def test_tables_that_are_not_the_user_s_keep_nothing_back(server: Guarded) -> None:
    server.client("ada")
    with connect("thrift://{}:{}".format(*server.address)) as service:
        learned = learn(service, map(_scanned, (OWN, READABLE, SHOWN)))
        assert (learned.queries, learned.recorded) == (3, 1)
        assert (set(learned.refused), learned.elsewhere) == ({READABLE}, {SHOWN})
        assert [each.worst.blame.table for each in service.blame.sums()] == [OWN]


def test_a_log_of_refused_tables_alone_is_refused(server: Guarded) -> None:
    server.client("ada")
    with (
        connect("thrift://{}:{}".format(*server.address)) as service,
        pytest.raises(CallRefused, match=r"ada may not write_statistics hive\.shut\.t"),
    ):
        learn(service, [_scanned(READABLE)])


def test_the_details_of_a_list_lack_those_that_are_not_told(server: Guarded) -> None:
    server.client("ada")
    address = "thrift://{}:{}".format(*server.address)
    found = CliRunner().invoke(app, ["list", "--details", "--json", "--metastore", address])
    assert found.exit_code == 0, found.exception
    lines = [each for each in found.stdout.splitlines() if each.startswith("{")]  # the server logs there too
    rows = {each["table"]: each.get("analyzed_columns") for each in map(json.loads, lines)}
    assert rows == {"open.p": [], "open.t": ["l"], "shut.p": None, "shut.t": ["l"]}
    assert "shut.p: " in found.stderr
    assert "ada may not read_statistics hive.shut.p" in found.stderr
    shown = CliRunner().invoke(app, ["list", "--details", "--metastore", address])
    assert re.search(r"shut.p +k +- +1 +0 +- +- +- +-", shown.stdout)
