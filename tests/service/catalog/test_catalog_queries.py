"""Questions about whole catalogs read what they answer, in a number of statements that does not grow with it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.fixtures.databases.statements import StatementCounter

from hmstats.model.catalog.objects import Column, Database, DatabaseName, Storage, Table, TableName
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.patterns import known_parts
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables as stored
from hmstats.store.database.store import Store

STORAGE = Storage(columns=(Column("c", "bigint"),))


@pytest.fixture
def warehouse(store: Store, tmp_path: Path) -> Warehouse:
    """A warehouse with the databases a0 to a4 and b, in each of which are the tables orders, orders_old and visits."""
    found = Warehouse(str(tmp_path))
    databases, tables = Databases(store, found), Tables(store, found)
    databases.ensure_default()
    for database in ("a0", "a1", "a2", "a3", "a4", "b"):
        name = DatabaseName("hive", database)
        databases.create(Database(name=name, location=f"{tmp_path}/{database}", parameters={"of": database}))
        for table in ("orders", "orders_old", "visits"):
            tables.create(Table(name=TableName("hive", database, table), storage=STORAGE))
    return found


@pytest.mark.parametrize(("pattern", "names"), [("a*", ["a0", "a1", "a2", "a3", "a4"]), ("b", ["b"]), ("x", [])])
def test_databases_are_read_together(
    store: Store, warehouse: Warehouse, statements: StatementCounter, pattern: str, names: list[str]
) -> None:
    with statements() as sent:
        found = Databases(store, warehouse).matching("hive", pattern)
    assert [(each.name.database, each.parameters) for each in found] == [(name, {"of": name}) for name in names]
    assert len(sent) <= 3


@pytest.mark.parametrize(
    ("databases", "names", "found"),
    [
        ("a1", "orders", ["a1.orders"]),
        ("A1|b", "ORDERS|visits", ["a1.orders", "a1.visits", "b.orders", "b.visits"]),
        ("b", "o.ders*", ["b.orders", "b.orders_old"]),
        ("b", "*_old", ["b.orders_old"]),
        ("b", "orders|*s", ["b.orders", "b.visits"]),
        ("b", "%s", []),
        ("b", None, ["b.orders", "b.orders_old", "b.visits"]),
        ("nothing", "*", []),
    ],
)
def test_summaries_are_read_of_what_may_match(
    store: Store,
    warehouse: Warehouse,
    statements: StatementCounter,
    databases: str,
    names: str | None,
    found: list[str],
) -> None:
    with statements() as sent:
        summaries = Tables(store, warehouse).summaries("hive", databases, names, [])
    assert [f"{each.name.database}.{each.name.table}" for each in summaries] == found
    assert len(sent) <= 2


def test_only_tables_that_may_match_are_read(
    store: Store, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    summaries = stored.summaries

    def recorded(*given: object) -> Sequence[object]:
        found = summaries(*given)  # type: ignore[arg-type]
        read.extend(f"{each.name.database}.{each.name.table}" for each in found)
        return found

    monkeypatch.setattr(stored, "summaries", recorded)
    Tables(store, warehouse).summaries("hive", "a*", "visits", ["MANAGED_TABLE"])
    assert read == [f"a{number}.visits" for number in range(5)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (None, None),
        ("", None),
        ("*", None),
        ("a|*", None),
        (".", None),
        (".b", ((), ("b",))),
        ("*ab.abc*", ((), ("abc",))),
        ("Abc", (("abc",), ())),
        ("a.*|*_50%*|bc*d", (("a", "bc"), ("_50%",))),
        ("*" + "a" * 257, None),
        ("|".join("abc" for _ in range(101)), None),
    ],
)
def test_the_parts_of_a_name_that_a_pattern_matches(pattern: str | None, expected: object) -> None:
    assert known_parts(pattern) == expected


def test_a_part_within_a_name_is_found_by_the_database(
    store: Store, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()
    summaries = stored.summaries

    def recorded(*given: object) -> Sequence[object]:
        found = summaries(*given)  # type: ignore[arg-type]
        read.extend(each.name.table for each in found)
        return found

    monkeypatch.setattr(stored, "summaries", recorded)
    for pattern, names in (("*s_O*", ["orders_old"]), ("*isi*|*s_*d", ["orders_old", "visits"]), ("*s%o*", [])):
        found = Tables(store, warehouse).summaries("hive", "b", pattern, [])
        assert sorted(each.name.table for each in found) == sorted(read) == names
        read.clear()
