"""`hmstats lock`: what is locked, and which locks it replaces."""

import json

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats.cli.main import app

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


def lock(metastore: Metastore, *arguments: str) -> str:
    address = f"thrift://127.0.0.1:{metastore.port}"
    done = CliRunner().invoke(app, ["lock", f"{metastore.database}.t", *arguments, "--metastore", address])
    assert done.exit_code == 0, done.exception
    return done.stdout


def test_a_lock_that_is_replaced_is_named_with_its_reason(our_metastore: Metastore) -> None:
    our_metastore.table()
    table = f"{our_metastore.database}.t"
    assert lock(our_metastore, "--reason", "an audit") == f"statistics of table {table} are locked\n"
    assert f"this replaces the lock of table {table} by " in (told := lock(our_metastore, "--reason", "another"))
    assert told.endswith(", whose reason was: an audit\n")
    (before,) = json.loads(lock(our_metastore, "--json"))["replaced"]
    assert before["reason"] == "another"


def test_each_column_has_a_lock_of_its_own(our_metastore: Metastore) -> None:
    our_metastore.table(columns={"a": "bigint", "b": "bigint"})
    assert json.loads(lock(our_metastore, "--json"))["replaced"] == []
    assert json.loads(lock(our_metastore, "--columns", "a", "--json"))["replaced"] == []
    (before,) = json.loads(lock(our_metastore, "--columns", "A,b", "--json"))["replaced"]
    assert before["columns"] == ["a"]
