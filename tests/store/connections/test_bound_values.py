"""What no database takes is refused by all of them in the same words."""

import pytest
from sqlalchemy import insert, select, update

from hmstats.errors import MetaError
from hmstats.store.database.store import Store
from hmstats.store.schema import CTLGS, DBS
from hmstats.store.storage.parameters import OF_TABLES, put
from hmstats.store.unit.unit import Unit

_NAMED = {"CTLG_ID": 7, "LOCATION_URI": "file:/w"}


def test_a_text_may_be_as_long_as_its_column(store: Store) -> None:
    store.write(lambda unit: unit.connection.execute(insert(CTLGS), [{**_NAMED, "NAME": "ü" * 256}]).rowcount)
    with store.read() as connection:
        assert connection.execute(select(CTLGS.c.NAME).where(CTLGS.c.CTLG_ID == 7)).scalar_one() == "ü" * 256


def test_a_longer_text_is_refused(store: Store) -> None:
    with pytest.raises(MetaError, match="NAME can have 256 characters, found 257: 'xxxxx"):
        store.write(lambda unit: unit.connection.execute(insert(CTLGS), [{**_NAMED, "NAME": "x" * 257}]))


def test_a_longer_text_is_refused_in_a_change(store: Store) -> None:
    with pytest.raises(MetaError, match="DESC can have 4000 characters, found 5000"):
        store.write(lambda unit: unit.connection.execute(update(CTLGS).values(DESC="x" * 5_000)))


def test_a_longer_text_is_refused_among_many_rows(store: Store) -> None:
    def write(unit: Unit) -> None:
        put(unit, OF_TABLES, {1: {"k": "v"}, 2: {"x" * 257: "v"}})

    with pytest.raises(MetaError, match="PARAM_KEY can have 256 characters, found 257"):
        store.write(write)


def test_a_longer_text_is_looked_for_and_not_found(store: Store) -> None:
    with store.read() as connection:
        assert connection.execute(select(DBS.c.DB_ID).where(DBS.c.NAME == "x" * 300)).all() == []


def test_nobody_takes_a_nul(store: Store) -> None:
    refused = pytest.raises(MetaError, match=r"a text cannot have the character NUL, found 'a\\x00b'")
    with refused:
        store.write(lambda unit: unit.connection.execute(insert(CTLGS), [{**_NAMED, "NAME": "a\0b"}]))
    with store.read() as connection, refused:
        connection.execute(select(DBS.c.DB_ID).where(DBS.c.NAME == "a\0b"))
    with refused:
        store.write(lambda unit: put(unit, OF_TABLES, {1: {"a\0b": "v"}}))


def test_nobody_takes_a_number_of_more_than_64_bits(store: Store) -> None:
    with pytest.raises(MetaError, match="a number must fit in 64 bits, found 9223372036854775808"):
        store.write(lambda unit: unit.connection.execute(insert(CTLGS), [{**_NAMED, "CREATE_TIME": 2**63}]))
