"""Preferences: stated of any object, kept with it, and counted from the innermost outwards."""

import getpass
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.client.metastore import Metastore as Client
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.preferences.preference import EVERYTHING, Subject


@pytest.fixture
def ours(our_metastore: Metastore) -> Iterator[Client]:
    our_metastore.table(keys=("p",))
    our_metastore.add_partitions(("1",), ("2",))
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as made:
        yield made


def of(metastore: Metastore, table: str | None = "t", **more: Any) -> Subject:
    return Subject(DatabaseName("hive", metastore.database), table, **more)


def counted(ours: Client, metastore: Metastore, name: str, table: str = "t", **more: Any) -> tuple[str, str]:
    """What counts of a preference, and from where."""
    found = ours.preferences.of_table(f"{metastore.database}.{table}").in_force(name, of(metastore, table, **more))
    return found.text, found.origin


def test_the_innermost_counts(our_metastore: Metastore, ours: Client) -> None:
    database, table = our_metastore.database, f"table {our_metastore.database}.t"
    assert counted(ours, our_metastore, "histogram") == ("true", "default")
    ours.preferences.change(EVERYTHING, {"guard_factor": "77"})
    try:
        assert counted(ours, our_metastore, "guard_factor") == ("77", "everything")
        ours.preferences.change(of(our_metastore, None), {"guard_factor": "5", "every": "90m"})
        assert counted(ours, our_metastore, "guard_factor") == ("5", f"database {database}")
        ours.preferences.change(of(our_metastore), {"guard_factor": "4", "sample": ".25"})
        ours.preferences.change(of(our_metastore, column="L"), {"guard_factor": "3"})
        assert counted(ours, our_metastore, "guard_factor") == ("4", table)
        assert counted(ours, our_metastore, "guard_factor", column="l") == ("3", f"column l of {table}")
        assert counted(ours, our_metastore, "guard_factor", column="s") == ("4", table)
        ours.preferences.change(of(our_metastore, partition="p=1"), {"every": "1 d"})
        assert counted(ours, our_metastore, "every", partition="p=1") == ("1d", f"partition p=1 of {table}")
        assert counted(ours, our_metastore, "every", partition="p=2") == ("90m", f"database {database}")
        found = ours.preferences.of_table(f"{database}.t").of(of(our_metastore, partition="p=1"))
        assert (found.every_seconds, found.sample, found.guard_factor) == (86_400, 0.25, 4.0)
    finally:
        assert ours.preferences.change(EVERYTHING, {}, ["guard_factor"]) == 1
    assert ours.preferences.change(of(our_metastore), {"sample": "1"}, ["guard_factor", "every"]) == 1
    assert counted(ours, our_metastore, "guard_factor") == ("5", f"database {database}")
    by = {each.set_by for each in ours.preferences.listed(database)}
    assert by == {getpass.getuser()}


def test_hives_parameter_counts_unless_ours_says_otherwise(our_metastore: Metastore, ours: Client) -> None:
    client, table = our_metastore.client(), f"table {our_metastore.database}.t"
    read = our_metastore.read_table()
    read.parameters = {**read.parameters, "skip.stats.autoupdate": "TRUE"}
    client.alter_table(our_metastore.database, "t", read)
    assert counted(ours, our_metastore, "automatic") == ("false", f"skip.stats.autoupdate of {table}")
    ours.preferences.change(of(our_metastore), {"automatic": "on"})
    assert counted(ours, our_metastore, "automatic") == ("true", table)
    our_metastore.table("u")
    database = client.get_database(our_metastore.database)
    database.parameters = {"skip.stats.autoupdate": "true"}
    client.alter_database(our_metastore.database, database)
    origin = f"skip.stats.autoupdate of database {our_metastore.database}"
    assert counted(ours, our_metastore, "automatic", "u") == ("false", origin)
    stated = ours.preferences.of_table(f"{our_metastore.database}.t")
    part = of(our_metastore, partition="p=1")
    assert stated.is_automatic(part)
    assert not stated.is_automatic(part, {"skip.stats.autoupdate": "true"})


def test_a_rename_carries_preferences_and_a_drop_removes_them(our_metastore: Metastore, ours: Client) -> None:
    ours.preferences.change(of(our_metastore), {"sample": "0.5"})
    ours.preferences.change(of(our_metastore, partition="p=1"), {"automatic": "false"})
    ours.preferences.change(of(our_metastore, None), {"precision": "14"})
    client, table = our_metastore.client(), our_metastore.read_table()
    table.tableName = "renamed"
    client.alter_table(our_metastore.database, "t", table)

    def stated() -> list[tuple[str | None, str | None, str]]:
        found = ours.preferences.listed(our_metastore.database)
        return [(each.subject.table, each.subject.partition, each.name) for each in found if each.subject.database]

    assert stated() == [
        (None, None, "precision"),
        ("renamed", None, "sample"),
        ("renamed", "p=1", "automatic"),
    ]
    client.drop_partition(our_metastore.database, "renamed", ["1"], True)
    assert stated() == [(None, None, "precision"), ("renamed", None, "sample")]
    client.drop_table(our_metastore.database, "renamed", True)
    assert stated() == [(None, None, "precision")]
    client.create_database(type(client.get_database(our_metastore.database))(name=f"{our_metastore.database}_2"))
    other = DatabaseName("hive", f"{our_metastore.database}_2")
    ours.preferences.change(Subject(other), {"precision": "11"})
    client.drop_database(other.database, True, True)
    assert [each for each in ours.preferences.listed(other.database) if each.subject.database] == []


def test_of_all_changes_of_a_call_none_is_made_if_one_is_wrong(our_metastore: Metastore, ours: Client) -> None:
    name = DatabaseName("hive", our_metastore.database)
    for subject, put, sentence in (
        (of(our_metastore), {"sample": "2"}, "sample must be more than 0 and at most 1, found '2'"),
        (of(our_metastore), {"smple": "1"}, "there is no preference smple, only statistics"),
        (of(our_metastore), {"statistics": "none"}, "statistics of a table must not be none"),
        (of(our_metastore, column="l"), {"sample": "1"}, "sample is stated of everything, database, table, found a"),
        (of(our_metastore, column="x"), {"histogram": "no"}, "has no column x"),
        (of(our_metastore, partition="p=9"), {"every": "1d"}, "has no partition p=9"),
        (of(our_metastore, "none"), {"every": "1d"}, "NoSuchObjectException"),
        (Subject(name, None, "p=1"), {"every": "1d"}, "must name its table"),
        (of(our_metastore), {"window": "25:00-26:00"}, "from 00:00 to 23:59"),
    ):
        with pytest.raises(CallRefused, match=sentence):
            ours.preferences.change(subject, {"automatic": "false", **put} if not subject.column else put)
    with pytest.raises(CallRefused, match="set or removed, not both"):
        ours.preferences.change(of(our_metastore), {"sample": "1"}, ["sample"])
    assert [each for each in ours.preferences.listed(our_metastore.database) if each.subject.database] == []
