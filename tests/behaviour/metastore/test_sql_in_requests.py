"""SQL in what a client sends stays text: it is kept, compared and given back, and never run."""

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.client import connect

ATTACKS = [
    """'); DROP TABLE "PARTITION_PARAMS"; --""",
    """' OR '1'='1""",
    """"; DELETE FROM "TBLS"; --""",
    """\\'; DROP TABLE "TBLS"; --""",
    "%(x)s :x ? $1 %s {x}",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_sql_in_a_value_stays_text(our_metastore: Metastore, attack: str) -> None:
    name = our_metastore.table("t", keys=("k",))
    our_metastore.add_partitions(("a",), (attack,))
    client, database = our_metastore.client(), our_metastore.database
    table = client.get_table(database, name)
    table.parameters[attack] = attack
    client.alter_table(database, name, table)
    assert client.get_table(database, name).parameters[attack] == attack
    found = {tuple(each.values) for each in client.get_partitions(database, name, -1)}
    assert found == {("a",), (attack,)}
    assert client.get_partition(database, name, [attack]).values == [attack]


@pytest.mark.parametrize("attack", ATTACKS)
def test_sql_in_a_name_or_a_pattern_finds_nothing(our_metastore: Metastore, attack: str) -> None:
    name = our_metastore.table("t", keys=("k",))
    our_metastore.add_partitions(("a",))
    client, database = our_metastore.client(), our_metastore.database
    assert client.get_all_tables(attack) == []
    assert client.get_tables(database, attack) == []
    assert client.get_table_objects_by_name(database, [attack]) == []
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        table = service.table(f"{database}.{name}").table
        literal = attack.replace("\\", "\\\\").replace('"', '\\"')
        assert service.partition_names_by_filter(table, f'k = "{literal}"') == []
        assert service.partition_names_by_filter(table, 'k = "a"') == ["k=a"]
    assert name in client.get_all_tables(database)
