"""The identity of a database: one for good, whoever asks first."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from hmstats.service.identity import Identity
from hmstats.store.catalog import metastore_properties
from hmstats.store.database.store import Store


def test_a_database_keeps_its_uuid(store: Store) -> None:
    first = Identity(store).uuid()
    assert UUID(first).version == 4
    assert Identity(store).uuid() == first


def test_all_who_ask_first_get_the_same_uuid(store: Store) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = set(pool.map(lambda _: Identity(store).uuid(), range(8)))
    with store.read() as connection:
        assert answers == {metastore_properties.get(connection, "guid")}


def test_the_uuid_that_another_writer_made_stays(store: Store) -> None:
    store.write(lambda unit: metastore_properties.add(unit, "guid", "by-hive", "made by Hive"))
    assert Identity(store).uuid() == "by-hive"
    assert store.write(lambda unit: metastore_properties.add(unit, "guid", "late", "too late")) == "by-hive"
