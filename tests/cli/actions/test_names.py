"""Names of what is not there: a list of nothing looks as if all were well, so a misspelt name is an error."""

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner, Result

from hmstats.cli.main import app
from hmstats.errors import StatementError

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)
LISTS = (["locked"], ["pending", "list"], ["runs"], ["blame"], ["prefs", "show"], ["prefs", "show", "--all"])


def run(metastore: Metastore, *arguments: str) -> Result:
    address = f"thrift://127.0.0.1:{metastore.port}"
    return CliRunner().invoke(app, [*arguments, "--metastore", address])


def refusal(metastore: Metastore, *arguments: str) -> str:
    result = run(metastore, *arguments)
    assert isinstance(result.exception, StatementError), result.output
    return str(result.exception)


@pytest.mark.parametrize("command", LISTS, ids=" ".join)
def test_a_list_of_what_is_not_there(our_metastore: Metastore, command: list[str]) -> None:
    our_metastore.table()
    database = our_metastore.database
    assert "database nosuch is not in the metastore at thrift://" in refusal(our_metastore, *command, "nosuch")
    assert f"table {database}.nope is not in" in refusal(our_metastore, *command, f"{database}.nope")
    for name in (database, f"{database}.t", *([] if command == ["prefs", "show"] else ["nosuch*", "nosuch.*"])):
        assert run(our_metastore, *command, name).exit_code == 0


def test_a_table_of_another_catalog_is_named_with_it(our_metastore: Metastore) -> None:
    for command in (["show"], ["history"], ["ask", "count"]):
        result = run(our_metastore, *command, "lake.nosuch.t")
        assert "lake.nosuch.t" in str(result.exception)


def test_a_column_that_is_not_there(our_metastore: Metastore) -> None:
    our_metastore.table()
    table = f"{our_metastore.database}.t"
    assert f"column nope must be one of {table}" in refusal(our_metastore, "history", table, "nope")
    assert f"column nope must be one of {table}" in refusal(our_metastore, "prefs", "show", table, "--column", "nope")
    assert run(our_metastore, "history", table, "l").exit_code == 0


def test_a_partition_with_a_piece_too_many(our_metastore: Metastore) -> None:
    """A slash within a value is %2F: what stands behind it is no part of another partition's name."""
    our_metastore.table(keys=("p",))
    our_metastore.add_partitions(("a",), ("a/b",))
    table = f"{our_metastore.database}.t"
    for name in ("p=a/b", "p=a/q=1", "b/p=a"):
        for command in (["show"], ["delete"], ["lock"]):
            sentence = refusal(our_metastore, *command, table, "--partition", name)
            assert (
                sentence == f"table {table}: a partition must have a value for each of p, and no more, found {name!r}"
            )
    assert run(our_metastore, "locked", table).stdout == "nothing is locked\n"
    assert f"{table} p=a%2Fb" in run(our_metastore, "show", table, "--partition", "p=a%2Fb").stdout


def test_a_locked_partition_is_named_as_it_is_stored(our_metastore: Metastore) -> None:
    our_metastore.table(keys=("p",))
    our_metastore.add_partitions(("a",))
    table = f"{our_metastore.database}.t"
    for command in ("lock", "unlock"):
        said = run(our_metastore, command, table, "--partition", "P=a", "--partition", "p=a").stdout
        assert said == f"statistics of partition p=a of table {table} are {command}ed\n"


def test_the_past_of_a_partition(our_metastore: Metastore) -> None:
    our_metastore.table(keys=("p int",))
    our_metastore.add_partitions(("1",))
    table, then = f"{our_metastore.database}.t", ("--as-of", "0s ago")
    missing = refusal(our_metastore, "show", table, "--partition", "p=9", *then)
    assert missing == f"table {table} has no partition p=9"
    assert f"{table} p=1 as of" in run(our_metastore, "show", table, "--partition", "p=01", *then).output
