"""Two real Hives and own tables behind one address, and a database that moves from each to hmstats and back."""

import pytest
from tests.gateway.doors import long, until
from tests.gateway.moving.filled import answers, fill, move
from tests.gateway.places.several import Several

from hmstats.client import connect
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api


@pytest.mark.slow
@pytest.mark.hive
def test_two_hives_behind_one_address(hives: Several) -> None:
    client, databases = hives.front.client(), ("hives_a", "b_hives", "own_hives")
    for name in databases:
        hives.table(hives.make(name), "t")
    assert client.get_databases("*hives*") == ["b_hives", "hives_a", "own_hives"]
    assert {(each.dbName, each.tableName) for each in client.get_table_meta("*hives*", "*", [])} == {
        (each, "t") for each in databases
    }
    upstreams = {"hives_a": hives.first, "b_hives": hives.second}
    for name, there in upstreams.items():
        assert there.client().get_all_tables(name) == ["t"]
        with connect(f"thrift://127.0.0.1:{hives.front.port}", retries=0) as ours:
            ours.put_table_statistics(f"{name}.t", StatisticsSet((long(3, 7, values=("3",)),)))
            assert ours.top_k(f"{name}.t", "a").values
        wanted = api.TableStatsRequest(dbName=name, tblName="t", colNames=["a"])
        until(1, lambda: len(there.client().get_table_statistics_req(wanted).tableStats))  # noqa: B023
    assert {"hives_a", "b_hives"} & set(hives.first.client().get_all_databases()) == {"hives_a"}
    moved = client.get_table_req(api.GetTableRequest(dbName="hives_a", tblName="t")).table
    moved.dbName = "b_hives"
    with pytest.raises(api.MetaException, match="hives_a in upstream first, b_hives in upstream second"):
        client.alter_table("hives_a", "t", moved)


@pytest.mark.slow
@pytest.mark.hive
@pytest.mark.parametrize("database", ["moved_a", "b_moved"])
def test_a_database_moves_from_a_hive_and_back(hives: Several, database: str) -> None:
    fill(hives, database)
    before = answers(hives.front, database)
    upstream = "second" if database.startswith("b_") else "first"
    done = move(hives, database)
    assert done.returncode == 0, done.stdout + done.stderr
    assert answers(hives.front, database) == before
    back = move(hives, database, "--to", upstream)
    assert back.returncode == 0, back.stdout + back.stderr
    assert answers(hives.front, database) == before
