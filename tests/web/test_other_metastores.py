"""The page over a Hive Metastore shows what that has; what only hmstats keeps is left out."""

from dataclasses import replace

import pytest
from tests.fixtures.metastores import Metastore
from tests.web.tables import DAYS, page_of, visits

from hmstats import client
from hmstats.model.catalog.objects import TableName

PLAIN = {"age": "int", "app": "string", "big": "bigint", "price": "decimal(10,2)", "paid": "boolean"}
_HIVES = [
    "hmstats-sqlite",
    *(pytest.param(each, marks=pytest.mark.hive) for each in ("hive-2.3", "hive-3.1", "hive-4.0")),
]


@pytest.mark.parametrize("metastore", _HIVES, indirect=True)
def test_tables_columns_and_partitions(metastore: Metastore) -> None:
    parameters = {"numRows": "1000", "totalSize": "2048"}
    metastore.table("visits", PLAIN, parameters=parameters)
    metastore.table("by_day", PLAIN, keys=("ds",))
    metastore.add_partitions(*([day] for day in DAYS), table="by_day", columns=PLAIN)
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        service.put_table_statistics(TableName("hive", metastore.database, "visits"), visits())
        service.put_table_parameters(TableName("hive", metastore.database, "visits"), parameters)
        sets = [replace(visits(), partition=f"ds={day}") for day in DAYS]
        service.put_partition_statistics(TableName("hive", metastore.database, "by_day"), sets)
    with page_of(metastore.port) as page:
        found = page.get(f"/api/v1/tables?database={metastore.database}").json()["tables"]
        assert [each["name"] for each in found] == ["by_day", "visits"]
        visited = page.get(f"/api/v1/tables/{metastore.database}.visits").json()
        assert visited["hmstats"] is metastore.ours
        assert visited["rows"]["value"] == 1_000
        age = visited["columns"][0]
        assert (age["nulls"]["value"], age["least"]["value"], age["greatest"]["value"]) == (100, 1, 79)
        assert age["nulls"]["certainty"] == ("exact" if metastore.ours else "unsaid")
        assert ("frequent" in visited["columns"][1]) is metastore.ours
        by_day = page.get(f"/api/v1/tables/{metastore.database}.by_day").json()
        assert by_day["partitions"]["value"] == len(DAYS)
        assert by_day["columns"][0]["nulls"]["value"] == 100 * len(DAYS)
        of_range = {"from": f"ds={DAYS[0]}", "to": f"ds={DAYS[1]}"}
        some = page.get(f"/api/v1/tables/{metastore.database}.by_day", params=of_range).json()
        assert some["columns"][0]["nulls"]["value"] == 200
        for path in ("visits", "by_day", "visits/columns/age", "by_day/columns/app", "by_day/partitions"):
            answer = page.get(f"/tables/{metastore.database}.{path}")
            assert answer.status_code == 200, path
            said = "This metastore is not hmstats" in answer.text
            assert said is (not metastore.ours and not path.endswith("partitions"))
