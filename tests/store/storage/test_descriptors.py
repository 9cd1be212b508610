from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import COLUMNS, STORAGE, STORAGES
from tests.store.row_counts import row_counts

from hmstats.model.catalog.objects import Column, SkewedInfo, Storage
from hmstats.store.database.store import Store
from hmstats.store.schema import CDS, SDS
from hmstats.store.storage import descriptors as storage

Share = tuple[int, Sequence[Column]]
SKEWED = replace(STORAGE, skewed=SkewedInfo(("a", "b"), (("1", "2"), ("3", "4")), {("1", "2"): "file:/x"}))


def insert(store: Store, new: Sequence[Storage], share: Share | None = None) -> list[int]:
    return store.write(lambda unit: storage.insert_many(unit, new, share))


def remove(store: Store, storage_ids: Sequence[int]) -> None:
    store.write(lambda unit: storage.remove_many(unit, storage_ids))


def read(store: Store, storage_ids: Sequence[int]) -> dict[int, Storage]:
    with store.read() as connection:
        return storage.read_many(connection, storage_ids)


def descriptors(store: Store) -> int:
    with store.read() as connection:
        return connection.execute(select(func.count()).select_from(CDS)).scalar_one()


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(new=st.lists(STORAGES, min_size=1, max_size=4))
def test_storages_come_back_as_they_were_written_and_go_without_a_trace(store: Store, new: list[Storage]) -> None:
    before = row_counts(store)
    made = insert(store, new)
    assert read(store, made) == dict(zip(made, new, strict=True))
    remove(store, made)
    assert row_counts(store) == before


def test_lists_keep_their_order(store: Store) -> None:
    names = [f"c{9 - index}" for index in range(10)]
    ordered = replace(
        STORAGE,
        columns=tuple(Column(name, "int") for name in names),
        bucket_columns=tuple(names),
        skewed=SkewedInfo(tuple(names), tuple((name, "x") for name in names)),
    )
    made = insert(store, [ordered])
    assert read(store, made)[made[0]] == ordered


def test_long_texts_are_kept_whole(store: Store) -> None:
    schema = "struct<" + ",".join(f"feld_{index}:string" for index in range(7_000)) + ">"
    assert len(schema) > 100_000
    big = replace(STORAGE, columns=(Column("c", schema),), parameters={"schema": schema + "ü"})
    made = insert(store, [big])
    assert read(store, made)[made[0]] == big


def test_what_is_not_there_is_left_out(store: Store) -> None:
    made = insert(store, [STORAGE])
    assert set(read(store, [*made, 10**15])) == set(made)
    assert read(store, []) == {}


def test_equal_columns_are_stored_once(store: Store) -> None:
    other = replace(STORAGE, columns=(*COLUMNS, Column("more", "int")))
    insert(store, [STORAGE, other, STORAGE, other])
    assert descriptors(store) == 2


def test_columns_that_differ_in_a_comment_are_not_equal(store: Store) -> None:
    said = replace(STORAGE, columns=tuple(replace(column, comment="said") for column in COLUMNS))
    made = insert(store, [STORAGE, said])
    assert read(store, made) == dict(zip(made, [STORAGE, said], strict=True))


def test_a_shared_column_descriptor_goes_with_its_last_user(store: Store) -> None:
    (first,) = insert(store, [STORAGE])
    with store.read() as connection:
        descriptor = storage.columns_id(connection, first)
    assert descriptor is not None
    (second,) = insert(store, [STORAGE], (descriptor, COLUMNS))
    assert descriptors(store) == 1
    remove(store, [first])
    assert read(store, [second]) == {second: STORAGE}
    remove(store, [second])
    assert descriptors(store) == 0


def test_a_skew_without_columns_is_none(store: Store) -> None:
    before = row_counts(store)
    empty = replace(STORAGE, skewed=SkewedInfo((), (("1",),), {("1",): "file:/x"}))
    made = insert(store, [SKEWED, empty])
    assert read(store, made) == dict(zip(made, [SKEWED, replace(STORAGE, skewed=None)], strict=True))
    remove(store, made)
    assert row_counts(store) == before


@pytest.mark.parametrize("same", [STORAGE, replace(STORAGE, skewed=SkewedInfo())])
def test_replacing_by_the_same_writes_nothing(store: Store, statements: StatementCounter, same: Storage) -> None:
    (made,) = insert(store, [STORAGE])
    with statements() as sent:
        assert store.write(lambda unit: storage.replace(unit, made, same)) == made
    assert all(each.startswith("SELECT") for each in sent)


def test_replacing_shares_columns_that_stay_and_not_those_that_change(store: Store) -> None:
    (made,) = insert(store, [SKEWED])
    moved = replace(STORAGE, location="file:/elsewhere")
    second = store.write(lambda unit: storage.replace(unit, made, moved))
    assert second is not None
    assert descriptors(store) == 1
    changed = replace(moved, columns=(Column("other", "int"),))
    third = store.write(lambda unit: storage.replace(unit, second, changed))
    assert third is not None
    assert descriptors(store) == 2
    assert read(store, [made, second, third]) == {made: SKEWED, second: moved, third: changed}
    assert store.write(lambda unit: storage.replace(unit, third, None)) is None


def test_the_number_of_statements_does_not_depend_on_the_number_of_storages(
    store: Store, statements: StatementCounter
) -> None:
    counts = []
    for count in (1, 150):
        new = [replace(SKEWED, location=str(index)) for index in range(count)]
        insert(store, new)  # takes ids
        with statements() as writing:
            made = insert(store, new)
        with statements() as reading:
            assert len(read(store, made)) == count
        with statements() as removing:
            remove(store, made)
        counts.append((len(writing), len(reading), len(removing)))
    assert counts[0] == counts[1]


def test_every_storage_has_a_serde_of_its_own(store: Store) -> None:
    made = insert(store, [STORAGE, STORAGE])
    with store.read() as connection:
        serdes = connection.execute(select(SDS.c.SERDE_ID).where(SDS.c.SD_ID.in_(made))).scalars().all()
    assert len(set(serdes)) == 2
