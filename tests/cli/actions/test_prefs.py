"""`hmstats prefs`: what is set, what counts, and from where."""

import json
import re

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner, Result

from hmstats.cli.main import app
from hmstats.errors import CallRefused, StatementError

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


def run(metastore: Metastore, *arguments: str) -> Result:
    address = f"thrift://127.0.0.1:{metastore.port}"
    return CliRunner().invoke(app, ["prefs", *arguments, "--metastore", address])


def shown(metastore: Metastore, *arguments: str) -> dict[str, tuple[str, str]]:
    result = run(metastore, "show", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return {each["name"]: (each["value"], each["from"]) for each in json.loads(result.stdout)}


def test_what_is_set_counts_and_says_where_it_comes_from(our_metastore: Metastore) -> None:
    our_metastore.table(keys=("p",))
    our_metastore.add_partitions(("1",))
    database, table = our_metastore.database, f"{our_metastore.database}.t"
    done = run(our_metastore, "set", database, "guard-factor=5", "window=22:00-04:00 Europe/Berlin")
    assert (done.exit_code, "guard_factor" in done.output) == (0, True)
    assert run(our_metastore, "set", table, "sample=0.1").exit_code == 0
    assert run(our_metastore, "set", table, "--column", "L", "statistics=none").exit_code == 0
    assert run(our_metastore, "set", table, "--partition", "p=1", "automatic=no").exit_code == 0
    found = shown(our_metastore, table)
    assert len(found) == 12
    assert found["guard_factor"] == ("5", f"database {database}")
    assert found["sample"] == ("0.1", f"table {table}")
    assert found["precision"] == ("12", "default")
    of_column = shown(our_metastore, table, "--column", "l")
    assert of_column["statistics"] == ("none", f"column l of table {table}")
    assert "sample" not in of_column
    assert shown(our_metastore, table, "--partition", "p=1")["automatic"][0] == "false"
    stated = run(our_metastore, "show", table, "--all", "--json").stdout.splitlines()
    assert [json.loads(each)["value"] for each in stated if json.loads(each)["table"]] == ["0.1", "none", "false"]
    assert run(our_metastore, "unset", table, "sample").exit_code == 0
    assert shown(our_metastore, table)["sample"] == ("1", "default")
    assert shown(our_metastore)["sample"] == ("1", "default")


def test_partitions_are_set_shown_and_unset_by_their_names(our_metastore: Metastore) -> None:
    our_metastore.table(keys=("p",))
    our_metastore.add_partitions(("1",), ("2",), ("3",))
    table, two = f"{our_metastore.database}.t", ("--partition", "p=1", "--partition", "p=2")
    done = run(our_metastore, "set", table, *two, "automatic=no")
    assert (done.exit_code, "p=1" in done.output, "p=2" in done.output) == (0, True, True)
    assert shown(our_metastore, table, "--partition", "p=3")["automatic"][0] == "true"
    rows = json.loads(run(our_metastore, "show", table, *two, "--json").stdout)
    assert {each["partition"]: each["value"] for each in rows if each["name"] == "automatic"} == {
        "p=1": "false",
        "p=2": "false",
    }
    assert run(our_metastore, "unset", table, *two, "automatic").exit_code == 0
    assert shown(our_metastore, table, "--partition", "p=1")["automatic"] == ("true", "default")


def test_a_partition_is_named_as_everywhere(our_metastore: Metastore) -> None:
    """The letters of keys and their order do not count, as in other commands."""
    our_metastore.table(keys=("p", "q"))
    our_metastore.add_partitions(("1", "2"))
    table = f"{our_metastore.database}.t"
    done = run(our_metastore, "set", table, "--partition", "Q=2/P=1", "automatic=false", "--json")
    (said,) = json.loads(done.stdout)
    assert (said["partition"], said["value"]) == ("p=1/q=2", "false")
    assert shown(our_metastore, table, "--partition", "q=2/P=1")["automatic"][0] == "false"
    assert run(our_metastore, "unset", table, "--partition", "P=1/q=2", "automatic").exit_code == 0
    assert shown(our_metastore, table, "--partition", "p=1/q=2")["automatic"] == ("true", "default")


def test_what_makes_no_sense_is_said(our_metastore: Metastore) -> None:
    our_metastore.table()
    table = f"{our_metastore.database}.t"
    for arguments, sentence in (
        (["set", table, "sample"], "must be NAME=VALUE, found 'sample'"),
        (["set", our_metastore.database, "histogram=no", "--column", "a"], "is of a table"),
        (["show", table, "--column", "a", "--partition", "p=1"], "found both"),
        (["unset", table, "sample"], "sample of table .* was not set"),
        (["show", f"{our_metastore.database}.none"], "is not in the metastore"),
        (["show", table, "--partition", "p=1"], "no partition p=1|no partition keys"),
        (["set", table, "sample=2"], "must be more than 0"),
    ):
        found = run(our_metastore, *arguments).exception
        assert isinstance(found, StatementError | CallRefused), (arguments, found)
        assert re.search(sentence, str(found)), found
