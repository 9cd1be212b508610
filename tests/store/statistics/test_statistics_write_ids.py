"""Write ids of the statistics of tables and partitions."""

import pytest
from sqlalchemy import insert

from hmstats.store.database.store import Store
from hmstats.store.schema import PARTITIONS, TBLS
from hmstats.store.statistics import statistics_write_ids
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable
from hmstats.store.unit.unit import Unit


@pytest.fixture(autouse=True)
def _rows(store: Store) -> None:
    def fill(unit: Unit) -> None:
        times = {"CREATE_TIME": 1, "LAST_ACCESS_TIME": 1}
        tables = [{"TBL_ID": each, "TBL_NAME": f"t{each}", "RETENTION": 0, **times} for each in (1, 2, 3)]
        unit.connection.execute(insert(TBLS), tables)
        partitions = [{"PART_ID": each, "PART_NAME": f"k={each}", "TBL_ID": 1, **times} for each in (1, 2, 3)]
        unit.connection.execute(insert(PARTITIONS), partitions)

    store.write(fill)


@pytest.mark.parametrize("of", [OF_TABLES, OF_PARTITIONS], ids=["tables", "partitions"])
def test_they_come_back(store: Store, of: ParameterTable) -> None:
    store.write(lambda unit: statistics_write_ids.put(unit, of, [1, 3, 99], 7))
    with store.read() as connection:
        assert statistics_write_ids.read(connection, of, [1, 2, 3, 99]) == {1: 7, 2: 0, 3: 7}
        other = OF_PARTITIONS if of is OF_TABLES else OF_TABLES
        assert statistics_write_ids.read(connection, other, [1, 2, 3]) == {1: 0, 2: 0, 3: 0}
