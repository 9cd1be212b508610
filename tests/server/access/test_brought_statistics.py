"""Statistics that new tables and partitions bring along need the right to write statistics, asked over sockets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.access.guarded import Guarded, done, guarded, partition, raised, statistics, table

from hmstats.wire.idl import hive_metastore as api

MAKER = '[[rule]]\nusers = ["ada"]\nobjects = ["hive.open"]\nallow = ["list", "read", "create", "alter"]\n'
WRITER = MAKER.replace('"alter"]', '"alter", "write_statistics"]')


@pytest.fixture
def server(sqlite_url: str, tmp_path: Path) -> Iterator[Guarded]:
    with guarded(sqlite_url, tmp_path) as running:
        yield running


def _new_table(*, with_statistics: bool) -> Any:
    new = table("open", "new")
    new.colStats = statistics("open", "new") if with_statistics else None
    return new


def _new_partition(*, with_statistics: bool) -> Any:
    new = partition("open", "c")
    new.colStats = statistics("open", "p") if with_statistics else None
    if new.colStats is not None:
        new.colStats.statsDesc.isTblLevel, new.colStats.statsDesc.partName = False, "k=c"
    return new


def _spec(new: Any) -> Any:
    listed = api.PartitionListComposingSpec(partitions=[new])
    return api.PartitionSpec(dbName="open", tableName="p", rootPath="", partitionList=listed)


CALLS: dict[str, Any] = {
    "create_table": lambda **has: {"tbl": _new_table(**has)},
    "create_table_req": lambda **has: {"request": api.CreateTableRequest(table=_new_table(**has))},
    "add_partition": lambda **has: {"new_part": _new_partition(**has)},
    "add_partitions": lambda **has: {"new_parts": [_new_partition(**has)]},
    "add_partitions_req": lambda **has: {
        "request": api.AddPartitionsRequest(
            dbName="open", tblName="p", parts=[_new_partition(**has)], ifNotExists=False, needResult=False
        )
    },
    "add_partitions_pspec": lambda **has: {"new_parts": [_spec(_new_partition(**has))]},
}


@pytest.mark.parametrize("call", CALLS)
def test_statistics_of_new_objects_need_the_right_to_write_them(server: Guarded, call: str) -> None:
    name = "new" if "table" in call else "p"
    server.rule(MAKER)
    ada = server.client("ada")
    refused = raised(ada.ask(call, **CALLS[call](with_statistics=True)))
    assert refused.message == f"ada may not write_statistics hive.open.{name}: rule 2 does not allow it"
    root = server.client("root")
    assert "new" not in done(root.ask("get_all_tables", db_name="open"))
    assert done(root.ask("get_partition_names", db_name="open", tbl_name="p", max_parts=-1)) == ["k=a", "k=b"]
    server.rule(WRITER)
    done(ada.ask(call, **CALLS[call](with_statistics=True)))


@pytest.mark.parametrize("call", CALLS)
def test_new_objects_without_statistics_need_no_more(server: Guarded, call: str) -> None:
    server.rule(MAKER)
    done(server.client("ada").ask(call, **CALLS[call](with_statistics=False)))
