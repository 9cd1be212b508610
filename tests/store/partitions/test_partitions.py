import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count as counting
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from tests.fixtures.databases.statements import StatementCounter, writes
from tests.store.catalog_values import (
    COLUMNS,
    NAME,
    PARTITIONS,
    TABLE,
    make_partitions,
    make_table,
    partition,
)
from tests.store.partitions.formats import OTHERS, STORAGE
from tests.store.row_counts import row_counts

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import Column, Partition, SkewedInfo, Storage
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.store import schema
from hmstats.store.catalog import tables
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.statistics import column_statistics
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS
from hmstats.store.unit.unit import Unit

STATISTICS = StatisticsSet((ColumnStatistics("id", "bigint", LongStatistics(ndv=1, nulls=0)),), "p=1")
NUMBERS = counting()


def insert(store: Store, table_id: int, new: dict[str, Partition]) -> None:
    store.write(lambda unit: partitions.insert_many(unit, table_id, COLUMNS, new))


def change(store: Store, table_id: int, changed: dict[int, Partition]) -> None:
    def replaced(unit: Unit) -> None:
        stored = {each.id: each for each in partitions.get_all(unit.connection, table_id).values() if each.id}
        partitions.replace_many(unit, table_id, COLUMNS, stored, changed)

    store.write(replaced)


def get_all(store: Store, table_id: int) -> Mapping[str, Partition]:
    with store.read() as connection:
        return partitions.get_all(connection, table_id)


def without_ids(found: Mapping[str, Partition]) -> dict[str, Partition]:
    return {name: replace(each, id=None) for name, each in found.items()}


def storage_ids(store: Store) -> set[int | None]:
    with store.read() as connection:
        return set(connection.execute(select(schema.PARTITIONS.c.SD_ID)).scalars())


def numbered(count: int) -> dict[str, Partition]:
    return {f"p={index:05}": partition(f"{index:05}", numRows=str(index)) for index in range(count)}


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    new=st.dictionaries(st.text("abc=/%ü", min_size=1, max_size=9), st.tuples(PARTITIONS, PARTITIONS), max_size=4),
)
def test_partitions_come_back_as_they_were_written_and_replaced(
    store: Store, new: dict[str, tuple[Partition, Partition]]
) -> None:
    table_id = make_table(store, replace(TABLE, name=replace(NAME, table=f"t{next(NUMBERS)}")))
    before = row_counts(store)
    insert(store, table_id, {name: first for name, (first, _) in new.items()})
    found = get_all(store, table_id)
    assert without_ids(found) == {name: first for name, (first, _) in new.items()}
    changed = {name: replace(second, values=new[name][0].values) for name, (_, second) in new.items()}
    change(store, table_id, {found[name].id or 0: second for name, second in changed.items()})
    assert without_ids(get_all(store, table_id)) == changed
    store.write(lambda unit: partitions.remove_many(unit, [each.id or 0 for each in found.values()]))
    assert row_counts(store) == before


def test_names_are_sorted_and_limited(store: Store) -> None:
    table_id = make_table(store)
    make_partitions(store, table_id, "b", "a", "😀", "豈", "ü", "A", "10", "9")
    expected = ["p=10", "p=9", "p=A", "p=a", "p=b", "p=ü", "p=豈", "p=😀"]
    with store.read() as connection:
        assert partitions.names(connection, table_id) == expected
        assert partitions.names(connection, table_id, 2) == expected[:2]
        assert partitions.names(connection, table_id, 0) == []
        assert list(partitions.get_all(connection, table_id)) == expected
        assert list(partitions.get_all(connection, table_id, 3)) == expected[:3]
        assert partitions.count(connection, table_id) == 8


def test_partitions_belong_to_their_table(store: Store) -> None:
    first, second = make_table(store), make_table(store, replace(TABLE, name=replace(NAME, table="t2")))
    ids = make_partitions(store, first, "1", "2")
    others = make_partitions(store, second, "1")
    assert set(ids.values()).isdisjoint(others.values())
    with store.read() as connection:
        assert partitions.find_ids(connection, second, ["p=1", "p=2"]) == others
        assert set(partitions.get_many(connection, second, ["p=1", "p=2"])) == {"p=1"}
        assert partitions.names(connection, second) == ["p=1"]
    store.write(lambda unit: tables.remove_many(unit, [second]))
    assert set(get_all(store, first)) == {"p=1", "p=2"}
    assert get_all(store, second) == {}


def test_named_partitions_come_in_name_order_without_those_that_are_missing(store: Store) -> None:
    table_id = make_table(store)
    ids = make_partitions(store, table_id, "3", "1", "2")
    with store.read() as connection:
        found = partitions.get_many(connection, table_id, ["p=3", "p=9", "p=1", "p=3"])
        assert list(found) == ["p=1", "p=3"]
        assert {name: each.id for name, each in found.items()} == {name: ids[name] for name in found}
        assert partitions.get_many(connection, table_id, []) == {}


def test_replacing_writes_nothing_that_is_as_it_was(store: Store, statements: StatementCounter) -> None:
    made = make_table(store)
    ids = make_partitions(store, made, "1", "2")
    with statements() as sent:
        change(store, made, {ids["p=1"]: replace(partition("1"), parameters={"x": "y"}), ids["p=2"]: partition("2")})
    written = writes(sent)
    assert re.search('INTO "PARTITION_PARAMS"', written)
    assert not re.search('(INTO|FROM|UPDATE) "(SDS|COLUMNS_V2)" |UPDATE "PARTITIONS"', written)
    with statements() as sent:
        change(store, made, {ids["p=2"]: partition("2")})
    assert not writes(sent)
    assert get_all(store, made)["p=1"].parameters == {"x": "y"}


def test_one_parameter_of_named_partitions(store: Store) -> None:
    table_id = make_table(store)
    insert(store, table_id, {"p=1": partition("1", a="x", b="y"), "p=2": partition("2", b="z"), "p=3": partition("3")})
    with store.read() as connection:
        assert partitions.parameter(connection, table_id, ["p=1", "p=2", "p=3"], "b") == {"p=1": "y", "p=2": "z"}
        assert partitions.parameter(connection, table_id, ["p=2"], "a") == {}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([], ["a-x", "a-y", "b-x", "b-y"]),
        (["a"], ["a-x", "a-y"]),
        ([None, "y"], ["a-y", "b-y"]),
        (["b", "x"], ["b-x"]),
        (["b", None], ["b-x", "b-y"]),
        ([None, None], ["a-x", "a-y", "b-x", "b-y"]),
        (["A"], []),
        ([""], []),
    ],
)
def test_partitions_match_by_their_first_values(store: Store, wanted: list[str | None], expected: list[str]) -> None:
    table_id = make_table(store)
    insert(store, table_id, {f"{a}-{b}": Partition(values=(a, b)) for a, b in product("ba", "yx")})
    with store.read() as connection:
        assert list(partitions.matching(connection, table_id, wanted)) == expected
        assert partitions.matching_names(connection, table_id, wanted) == expected
        assert list(partitions.matching(connection, table_id, wanted, 1)) == expected[:1]
        assert partitions.matching_names(connection, table_id, wanted, 1) == expected[:1]


def test_a_name_is_taken_once_and_nothing_is_half_written(store: Store) -> None:
    table_id = make_table(store)
    make_partitions(store, table_id, "1")
    before = row_counts(store)
    with pytest.raises(MetaError, match="refuses the change"):
        insert(store, table_id, {"p=0": partition("0"), "p=1": partition("1")})
    assert row_counts(store) == before


def test_partitions_share_the_columns_of_their_table(store: Store) -> None:
    table_id = make_table(store)
    insert(store, table_id, numbered(3))
    assert row_counts(store)["CDS"] == 1
    older = {"p=x": partition("x", columns=COLUMNS[:1]), "p=y": partition("y", columns=COLUMNS[:1])}
    insert(store, table_id, older)
    assert row_counts(store)["CDS"] == 2
    assert without_ids(get_all(store, table_id)) == {**numbered(3), **older}


def test_a_view_s_partitions_need_no_storage(store: Store) -> None:
    table_id = make_table(store, replace(TABLE, storage=None))
    insert(store, table_id, {"p=1": Partition(values=("1",)), "p=2": partition("2")})
    found = get_all(store, table_id)
    assert without_ids(found) == {"p=1": Partition(values=("1",)), "p=2": partition("2")}


def test_new_parameters_leave_the_storage_alone(store: Store, statements: StatementCounter) -> None:
    table_id = make_table(store)
    ids = make_partitions(store, table_id, "1", "2")
    before = storage_ids(store)
    said = {name: partition(name[2:], numRows="7") for name in ids}
    # Hive's clients always send a skew, mostly an empty one.
    skewed = {
        name: replace(new, storage=replace(new.storage, skewed=SkewedInfo()))
        for name, new in said.items()
        if new.storage
    }
    with statements() as sent:
        change(store, table_id, {ids[name]: new for name, new in skewed.items()})
    assert storage_ids(store) == before
    assert not [each for each in sent if '"SDS"' in each and not each.startswith("SELECT")]
    assert without_ids(get_all(store, table_id)) == said


def test_replacing_changes_no_other_partition(store: Store) -> None:
    table_id = make_table(store)
    ids = make_partitions(store, table_id, "1", "2")
    store.write(lambda unit: column_statistics.write_partitions(unit, NAME, {ids["p=1"]: STATISTICS}))
    rows = row_counts(store)
    wider = partition("1", columns=(*COLUMNS, Column("more", "int")))
    change(store, table_id, {ids["p=1"]: wider})
    assert without_ids(get_all(store, table_id)) == {"p=1": wider, "p=2": partition("2")}
    assert row_counts(store)["SDS"] == rows["SDS"]
    with store.read() as connection:
        kept = column_statistics.read_partitions(connection, table_id, ["p=1"], None, None)
    assert kept["p=1"][0].columns == STATISTICS.columns


def test_a_renamed_partition_keeps_its_statistics(store: Store) -> None:
    table_id = make_table(store)
    ids = make_partitions(store, table_id, "1", "2")
    store.write(lambda unit: column_statistics.write_partitions(unit, NAME, {ids["p=1"]: STATISTICS}))
    store.write(lambda unit: partitions.rename(unit, ids["p=1"], "p=one", ["one"]))
    found = get_all(store, table_id)
    assert set(found) == {"p=2", "p=one"}
    assert (found["p=one"].id, found["p=one"].values) == (ids["p=1"], ("one",))
    with store.read() as connection:
        kept = column_statistics.read_partitions(connection, table_id, None, None, None)
        texts = connection.execute(select(schema.PART_COL_STATS.c.PARTITION_NAME)).scalars().all()
    assert [each.columns for each in kept["p=one"]] == [STATISTICS.columns]
    assert texts == ["p=one"]


def test_partitions_move_with_the_place_they_lie_in(store: Store) -> None:
    table_id = make_table(store)
    make_partitions(store, table_id, "1")
    places = {"p=2": "file:/elsewhere", "p=3": "file:/warehouse/t2/p=3", "p=4": None}
    for name, place in places.items():
        storage = partition("x").storage
        assert storage is not None
        insert(store, table_id, {name: replace(partition(name[2:]), storage=replace(storage, location=place))})
    store.write(lambda unit: partitions.relocate(unit, table_id, "file:/warehouse/t", "s3://b/ü"))
    found = {name: each.storage.location for name, each in get_all(store, table_id).items() if each.storage}
    assert found == {"p=1": "s3://b/ü/p=1", **places}


def test_a_locked_partition_has_one_writer_at_a_time(store: Store) -> None:
    table_id = make_table(store)
    ids = make_partitions(store, table_id, "1", "2")

    def count(index: int) -> None:
        wanted = ["p=1", "p=2"] if index % 2 else ["p=2", "p=1", "p=9"]

        def work(unit: Unit) -> None:
            locked = partitions.lock(unit, table_id, wanted)
            assert locked == ids
            known = parameters.read(unit.connection, OF_PARTITIONS, list(locked.values()))
            more = {each: {"n": str(int(known.get(each, {}).get("n", "0")) + 1)} for each in locked.values()}
            parameters.put(unit, OF_PARTITIONS, more)

        store.write(work)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, range(30)))
    assert [each.parameters for each in get_all(store, table_id).values()] == [{"n": "30"}, {"n": "30"}]


def test_the_number_of_statements_does_not_depend_on_the_number_of_partitions(
    store: Store, statements: StatementCounter
) -> None:
    table_id = make_table(store)
    insert(store, table_id, {"first": partition("x")})  # takes ids
    counts = []
    for size in (1, 900):  # a block of ids lasts for both
        new = numbered(size)
        with statements() as inserting:
            insert(store, table_id, new)
        with statements() as reading, store.read() as connection:
            found = partitions.get_many(connection, table_id, list(new))
        assert without_ids(found) == new
        changed = {each.id or 0: replace(each, parameters={"x": "y"}, storage=None) for each in found.values()}
        with statements() as changing:
            change(store, table_id, changed)
        with statements() as removing:
            store.write(partial(partitions.remove_many, partition_ids=list(changed)))
        assert set(get_all(store, table_id)) == {"first"}
        counts.append([len(inserting), len(reading), len(changing), len(removing)])
    assert counts[0] == counts[1]


@pytest.mark.parametrize("other", OTHERS)
def test_storages_that_differ_in_one_field_are_told_apart(store: Store, other: Storage) -> None:
    table_id = make_table(store)
    storages = {"p=1": STORAGE, "p=2": other, "p=3": STORAGE, "p=4": other, "p=5": None}
    new = {name: replace(partition(name[2:]), storage=each) for name, each in storages.items()}
    insert(store, table_id, new)
    with store.read() as connection:
        found = partitions.get_all(connection, table_id)
    assert without_ids(found) == new
    formats = found.columns.formats
    assert formats[0] is formats[2]
    assert (formats[1] is formats[3]) == (other.skewed is None)


@pytest.mark.slow
def test_ten_thousand_partitions_in_one_call(store: Store) -> None:
    table_id = make_table(store)
    before = row_counts(store)
    new = numbered(10_000)
    insert(store, table_id, new)
    with store.read() as connection:
        assert partitions.count(connection, table_id) == 10_000
        ids = partitions.find_ids(connection, table_id, list(new))
        assert list(partitions.get_many(connection, table_id, list(new))) == list(new)
    assert set(ids) == set(new)
    sets = {each: replace(STATISTICS, partition=name) for name, each in ids.items()}
    store.write(lambda unit: column_statistics.write_partitions(unit, NAME, sets))
    with store.read() as connection:
        assert len(column_statistics.read_partitions(connection, table_id, list(new), ["id"], "hive")) == 10_000
    store.write(lambda unit: partitions.remove_many(unit, list(ids.values())))
    assert row_counts(store) == before
