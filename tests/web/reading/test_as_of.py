"""Statistics of a time: those of partitions are merged as they are today, by the sketches that were there then."""

from dataclasses import replace

from tests.web.fixture import Shown, metastore_port, shown
from tests.web.tables import DAYS, visits

from hmstats import client
from hmstats.model.catalog.objects import TableName

__all__ = ["metastore_port", "shown"]


def test_partitions_of_a_time_are_merged_as_those_of_now(shown: Shown) -> None:
    now = shown.json("/tables/shop.by_day")
    then = shown.json("/tables/shop.by_day", as_of="0s")
    assert then["as_of"] > "2024"
    assert then["rows"]["value"] == now["rows"]["value"] == 4_500
    assert then["partitions"]["value"] == len(DAYS)
    for old, new in zip(then["columns"], now["columns"], strict=True):
        distinct = ["distinct"] if old["type"] != "boolean" else []  # of booleans it is told by a call of now alone
        for number in ("nulls", "least", "greatest", *distinct):
            assert old.get(number, {}).get("value") == new.get(number, {}).get("value"), (old["name"], number)
        assert old.get("histogram", {}).get("values") == new.get("histogram", {}).get("values")
        assert old.get("frequent") == new.get("frequent")


def test_a_range_of_a_time_is_that_range_alone(shown: Shown, metastore_port: int) -> None:
    before = shown.json("/tables/shop.by_day/history")["versions"][0]["at"]
    name = TableName("hive", shown.database, "by_day")
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        service.delete_statistics(name, ["age"], [f"ds={DAYS[0]}"])
        chosen = {"from": f"ds={DAYS[0]}", "to": f"ds={DAYS[1]}"}
        gone = shown.json("/tables/shop.by_day/columns/age", **chosen)
        old = shown.json("/tables/shop.by_day/columns/age", as_of=before, **chosen)
        service.put_partition_statistics(name, [replace(visits(), partition=f"ds={DAYS[0]}")])
    assert old["column"]["nulls"]["value"] == 200
    assert old["partitions"] == 2
    assert gone["column"].get("nulls", {}).get("value") != 200
    cells = shown.json("/tables/shop.by_day/partition-cells", as_of=before)
    assert cells["rows"]["value"] == 4_500
