"""Which calls raise the number of Hive's notification log in the transactions in which they change what is answered.

Where all do, an answer is still true as long as that number is the same. Triggers see what each transaction changes.
"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.behaviour.structs import statistics, statistics_of
from tests.beside.audit import Audit
from tests.fixtures.metastores import Metastore
from tests.fixtures.pairs import Pair

from hmstats.wire.idl import hive_metastore as api

Call = Callable[[Metastore, Any], object]
COLUMNS = {"l": "bigint", "s": "string"}
K = [f"k={letter}" for letter in "abcdef"]


def _objects(number: int = 5) -> list[Any]:
    return [statistics_of("l", numDVs=number), statistics_of("s", numDVs=number)]


def _of_table(m: Metastore, number: int = 5) -> Any:
    return statistics(m, *_objects(number))


def _of_partitions(m: Metastore, names: list[str], number: int = 5) -> list[Any]:
    return [statistics(m, *_objects(number), partition=name, table="p") for name in names]


def _set(m: Metastore, c: Any, sets: list[Any], merge: bool) -> object:
    return c.set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=sets, needMerge=merge))


def _altered(m: Metastore, c: Any, change: Callable[[Any], None], name: str = "t") -> None:
    table = m.read_table(name)
    change(table)
    c.alter_table(m.database, name, table)


def _partition(m: Metastore, c: Any, letter: str) -> Any:
    found = c.get_partition_by_name(m.database, "p", f"k={letter}")
    found.parameters = {**(found.parameters or {}), "x": letter}
    return found


def _renamed(m: Metastore, c: Any) -> None:
    new = c.get_partition_by_name(m.database, "p", "k=b")
    new.values = ["z"]
    c.rename_partition(m.database, "p", ["b"], new)


def _exchange(m: Metastore, c: Any) -> None:
    c.exchange_partition({"k": "c"}, m.database, "p", m.database, "q")


def _database(m: Metastore, name: str) -> Any:
    return api.Database(name=name, description="", parameters={}, locationUri=f"file:/tmp/{name}.db")


def _fill(m: Metastore, c: Any) -> None:
    c.create_database(_database(m, "other_" + m.database))
    other = Metastore(m.flavour, m.port, m.generation, "other_" + m.database, m.clients)
    other.table("p", COLUMNS, keys=("k",))
    other.add_partitions(*([each] for each in "ab"), table="p", columns=COLUMNS)


def _made_of(m: Metastore, name: str) -> Any:
    sources = [api.SourceTable(table=m.read_table(name), insertedCount=1, updatedCount=2, deletedCount=3)]
    return api.CreationMetadata(
        catName="hive", dbName=m.database, tblName="v", tablesUsed={f"{m.database}.{name}"}, sourceTables=sources
    )


def _view(m: Metastore, c: Any) -> None:
    view = api.Table(
        tableName="v",
        dbName=m.database,
        owner="ann",
        sd=m.storage(COLUMNS),
        partitionKeys=[],
        parameters={},
        tableType="MATERIALIZED_VIEW",
        viewOriginalText="select 1",
        viewExpandedText="select 1",
        creationMetadata=_made_of(m, "q"),
        catName="hive",
    )
    c.create_table(view)


def _expecting(m: Metastore, c: Any) -> None:
    """Change a table if a parameter has a value, as Iceberg does."""
    expected = {"expected_parameter_key": "x", "expected_parameter_value": "y"}
    table = m.read_table()
    table.parameters["x"] = "z"
    c.alter_table_with_environment_context(m.database, "t", table, api.EnvironmentContext(properties=expected))


CALLS: dict[str, Call] = {
    "create_database": _fill,
    "alter_database": lambda m, c: c.alter_database(
        "other_" + m.database, api.Database(name="other_" + m.database, parameters={"x": "y"}, description="d")
    ),
    "drop_database, cascading": lambda m, c: c.drop_database("other_" + m.database, False, True),
    "create_table": lambda m, c: (m.table("t", COLUMNS), m.table("p", COLUMNS, ("k",)), m.table("q", COLUMNS, ("k",))),
    "create_table, a materialized view": _view,
    "update_creation_metadata": lambda m, c: c.update_creation_metadata("hive", m.database, "v", _made_of(m, "p")),
    "drop_table, a materialized view": lambda m, c: c.drop_table(m.database, "v", False),
    "add_partition": lambda m, c: c.add_partition(m.partition("a", table="p", columns=COLUMNS)),
    "add_partitions": lambda m, c: m.add_partitions(*([each] for each in "bcdef"), table="p", columns=COLUMNS),
    "append_partition": lambda m, c: c.append_partition(m.database, "p", ["g"]),
    "update_table_column_statistics": lambda m, c: c.update_table_column_statistics(_of_table(m)),
    "update_table_column_statistics, again": lambda m, c: c.update_table_column_statistics(_of_table(m, 6)),
    "update_partition_column_statistics": lambda m, c: c.update_partition_column_statistics(
        _of_partitions(m, K[:1])[0]
    ),
    "update_partition_column_statistics, again": lambda m, c: c.update_partition_column_statistics(
        _of_partitions(m, K[:1], 6)[0]
    ),
    "set_aggr_stats_for, a table": lambda m, c: _set(m, c, [_of_table(m, 7)], merge=False),
    "set_aggr_stats_for, a table, merging": lambda m, c: _set(m, c, [_of_table(m, 8)], merge=True),
    "set_aggr_stats_for, one partition": lambda m, c: _set(m, c, _of_partitions(m, K[:1], 7), merge=False),
    "set_aggr_stats_for, one partition, merging": lambda m, c: _set(m, c, _of_partitions(m, K[:1], 8), merge=True),
    "set_aggr_stats_for, many partitions": lambda m, c: _set(m, c, _of_partitions(m, K, 9), merge=False),
    "set_aggr_stats_for, many partitions, again": lambda m, c: _set(m, c, _of_partitions(m, K, 10), merge=False),
    "set_aggr_stats_for, many partitions, merging": lambda m, c: _set(m, c, _of_partitions(m, K, 11), merge=True),
    "delete_table_column_statistics, one column": lambda m, c: c.delete_table_column_statistics(
        m.database, "t", "l", "hive"
    ),
    "delete_table_column_statistics, all": lambda m, c: c.delete_table_column_statistics(m.database, "t", None, "hive"),
    "delete_partition_column_statistics, one column": lambda m, c: c.delete_partition_column_statistics(
        m.database, "p", "k=a", "l", "hive"
    ),
    "delete_partition_column_statistics, all": lambda m, c: c.delete_partition_column_statistics(
        m.database, "p", "k=a", None, "hive"
    ),
    "alter_table, parameters": lambda m, c: _altered(m, c, lambda table: table.parameters.update(x="y")),
    "alter_table_with_environment_context, expecting": _expecting,
    "alter_table, columns": lambda m, c: _altered(
        m, c, lambda table: setattr(table.sd, "cols", [*table.sd.cols, api.FieldSchema("n", "int", "")])
    ),
    "alter_table, of partitions": lambda m, c: _altered(m, c, lambda table: table.parameters.update(x="y"), "p"),
    "alter_partition": lambda m, c: c.alter_partition(m.database, "p", _partition(m, c, "a")),
    "alter_partitions": lambda m, c: c.alter_partitions(m.database, "p", [_partition(m, c, each) for each in "cd"]),
    "rename_partition": _renamed,
    "truncate_table, a table": lambda m, c: (
        c.update_table_column_statistics(_of_table(m)),
        c.truncate_table(m.database, "t", None),
    ),
    "truncate_table, partitions": lambda m, c: c.truncate_table(m.database, "p", ["k=d"]),
    "exchange_partition": _exchange,
    "drop_partition": lambda m, c: c.drop_partition(m.database, "p", ["e"], False),
    "drop_partitions_req": lambda m, c: c.drop_partitions_req(
        api.DropPartitionsRequest(
            dbName=m.database, tblName="p", parts=api.RequestPartsSpec(names=["k=f", "k=g"]), deleteData=False
        )
    ),
    "alter_table, a new name": lambda m, c: _altered(m, c, lambda table: setattr(table, "tableName", "r")),
    "alter_table, a new name, of partitions": lambda m, c: _altered(
        m, c, lambda table: setattr(table, "tableName", "pr"), "p"
    ),
    "drop_table": lambda m, c: c.drop_table(m.database, "r", False),
    "drop_table, of partitions": lambda m, c: c.drop_table(m.database, "pr", False),
}


_OF_VIEWS = {name for name in CALLS if "materialized view" in name or "creation" in name}
_OF_STATISTICS = {name for name in CALLS if "statistics" in name or "stats" in name}
ABSENT = {
    "hive-2.3": {name for name in CALLS if name.startswith("truncate_table")} | _OF_VIEWS,
    "hmstats-beside-2.3": _OF_VIEWS,
    "hive-3.1": {name for name in CALLS if name.endswith("merging")},  # which it does with bit vectors only
}
"""Calls that a release has not."""
UNLOGGED = {
    "hive-2.3": _OF_STATISTICS | {"alter_database"},
    "hive-3.1": _OF_STATISTICS | {"truncate_table, a table", "update_creation_metadata"},
    "hive-4.0": {"update_creation_metadata"},
    **{f"hmstats-beside-{each}": {"update_creation_metadata"} for each in ("3.1", "4.0")},  # as Hive's
}
"""Calls after which something has changed that no event tells of."""


@pytest.mark.parametrize("side", ["hive", "ours"])
def test_what_changes_answers_raises_the_number_of_the_log(logging_pair: Pair, side: str, capfd: Any) -> None:
    here = logging_pair.hive if side == "hive" else logging_pair.ours
    metastore = Metastore(here.flavour, here.port, here.generation, f"events_{side}")
    absent = ABSENT.get(here.flavour, set())
    audit = Audit(logging_pair.url)
    unlogged, unnamed = set(), set()
    with metastore.clients:
        client = metastore.client()
        client.create_database(api.Database(name=metastore.database, description="", parameters={}))
        for name, call in CALLS.items():
            if name in absent:
                continue
            with audit.seeing() as seen:
                call(metastore, client)
            assert seen.changed, name
            unlogged |= {name} if seen.unlogged else set()
            unnamed |= {name} if seen.unnamed else set()
            with capfd.disabled():
                said = f"not for {', '.join(sorted(seen.unlogged))}" if seen.unlogged else "yes"
                print(f"{here.flavour}: {name}: {said}")
    audit.close()
    assert unlogged == UNLOGGED.get(here.flavour, set()) - absent
    assert unnamed == set()
