"""Statements that sessions of PostgreSQL prepare, and sessions that are not what they were."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import ColumnElement, bindparam, select, text
from sqlalchemy.exc import DBAPIError
from structlog.testing import capture_logs
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import MetaError
from hmstats.store.database.store import Store
from hmstats.store.schema import SEQUENCE_TABLE
from hmstats.store.statements.upserts import upsert
from hmstats.store.unit import prepared
from hmstats.store.unit.prepared import PREPARED, Prepared
from hmstats.store.unit.unit import Unit

SEQUENCES = SEQUENCE_TABLE.c
RUNS = "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement LIKE '%%SELECT \"%%'"
READ = select(SEQUENCES.NEXT_VAL).where(SEQUENCES.SEQUENCE_NAME == bindparam("name")).execution_options(**PREPARED)


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    """A store over PostgreSQL with one connection that writes."""
    store = Store.open(postgres_url, pool_size=1)
    yield store
    store.close()


def taken(_old: Any, new: Any) -> dict[str, ColumnElement[Any]]:
    return {"NEXT_VAL": new.NEXT_VAL}


def put(unit: Unit, name: str, number: int) -> None:
    upsert(unit, SEQUENCE_TABLE, ["SEQUENCE_NAME"], [{"SEQUENCE_NAME": name, "NEXT_VAL": number}], taken)


def read(store: Store, name: str) -> object:
    """The number of a sequence by a prepared query."""
    return store.write(lambda unit: unit.connection.execute(READ, {"name": name}).scalar())


def stored(store: Store) -> dict[str, int]:
    with store.read() as connection:
        rows = connection.execute(select(SEQUENCES.SEQUENCE_NAME, SEQUENCES.NEXT_VAL))
        return {name: number for name, number in rows if not name.startswith("org.")}


def begins(sent: list[str]) -> list[str]:
    """The first word of each statement that was sent."""
    return [statement.split()[0] for statement in sent]


def test_a_text_becomes_one_with_numbered_parameters() -> None:
    made = Prepared.of(
        "SELECT a % 2, '100%%' FROM t WHERE b = %s AND c = ANY(CAST(%s AS TEXT[]))".replace(" % ", " %% ")
    )
    assert made.prepare == (
        f"PREPARE {made.name} AS SELECT a % 2, '100%' FROM t WHERE b = $1 AND c = ANY(CAST($2 AS TEXT[]))"
    )
    assert made.run == f"EXECUTE {made.name}(%s, %s)"
    assert Prepared.of("SELECT 1").run == f"EXECUTE {Prepared.of('SELECT 1').name}"
    assert made.name != Prepared.of("SELECT 1").name


def test_a_statement_is_prepared_where_it_first_runs_and_known_from_then_on(
    store: Store, statements: StatementCounter
) -> None:
    with statements() as sent:
        for number, name in enumerate(("a", "100%", "a")):
            store.write(lambda unit, name=name, number=number: put(unit, name, number))  # type: ignore[misc]
    assert begins(sent) == ["PREPARE", "EXECUTE", "EXECUTE"]
    assert stored(store) == {"a": 2, "100%": 1}


def test_a_marked_query_is_prepared_in_a_unit_alone(store: Store) -> None:
    store.write(lambda unit: put(unit, "a", 1))
    store.write(lambda unit: unit.connection.execute(READ, {"name": "none"}))
    assert [read(store, name) for name in ("a", "100%", "a")] == [1, None, 1]
    runs = store.write(lambda unit: list(unit.connection.exec_driver_sql(RUNS).scalars()))
    assert runs == [4]
    with store.read() as connection:
        assert connection.execute(READ, {"name": "a"}).scalar() == 1
        assert list(connection.exec_driver_sql(RUNS).scalars()) == []


def test_what_is_queued_comes_before_a_prepared_query(store: Store) -> None:
    def put_and_read(unit: Unit, number: int) -> object:
        put(unit, "a", number)
        return unit.connection.execute(READ, {"name": "a"}).scalar()

    assert [store.write(lambda unit, number=number: put_and_read(unit, number)) for number in (1, 2)] == [1, 2]  # type: ignore[misc]


def test_a_query_is_prepared_anew_after_a_column_changed_its_type(store: Store) -> None:
    """As while a migration of a newer version runs: PostgreSQL refuses the prepared form from then on."""
    store.write(lambda unit: put(unit, "a", 1))
    assert read(store, "a") == 1
    alter = f'ALTER TABLE "{SEQUENCE_TABLE.name}" ALTER "NEXT_VAL" TYPE numeric'
    store.write(lambda unit: unit.connection.exec_driver_sql(alter))
    assert [read(store, "a") for _ in range(2)] == [1, 1]


def test_another_session_behind_the_connection_is_written_to_as_well(
    store: Store, statements: StatementCounter
) -> None:
    """As behind a pooler: nothing is prepared there."""
    store.write(lambda unit: put(unit, "a", 1))
    store.write(lambda unit: unit.connection.exec_driver_sql("DEALLOCATE ALL"))
    with statements() as sent:
        store.write(lambda unit: put(unit, "a", 2))
        store.write(lambda unit: put(unit, "b", 3))
    assert [each for each in begins(sent) if each != "DEALLOCATE"] == ["EXECUTE", "INSERT", "INSERT"]
    assert stored(store) == {"a": 2, "b": 3}


def test_units_that_meet_another_session_at_once_are_all_written(store: Store) -> None:
    store.write(lambda unit: put(unit, "a", 1))
    store.write(lambda unit: unit.connection.exec_driver_sql("DEALLOCATE ALL"))

    def put_later(unit: Unit) -> None:
        if unit.prepares:  # a unit of another thread has met it meanwhile
            store._preparing.pause(DBAPIError("EXECUTE x", None, ValueError("it does not exist")))
        put(unit, "a", 2)

    store.write(put_later)
    assert stored(store) == {"a": 2}


def test_a_session_in_which_another_has_prepared_the_statement_is_written_to_as_well(store: Store) -> None:
    store.write(lambda unit: put(unit, "a", 1))
    store.write(lambda unit: unit.connection.info.clear())
    store.write(lambda unit: put(unit, "a", 2))
    assert stored(store) == {"a": 2}


def test_after_an_error_a_session_is_known_to_know_nothing(store: Store, statements: StatementCounter) -> None:
    def fails(unit: Unit) -> None:
        put(unit, "a", 1)
        unit.queue("SELECT %s / 0", [1])
        put(unit, "b", 1)

    with pytest.raises(MetaError, match="division by zero"):
        store.write(fails)
    with statements() as sent:
        store.write(lambda unit: put(unit, "a", 2))
        assert begins(sent) == ["PREPARE"]
        names = store.write(
            lambda unit: unit.connection.execute(text("SELECT count(*) FROM pg_prepared_statements")).scalar()
        )
    assert names == 1
    assert stored(store) == {"a": 2}


def test_a_session_keeps_no_more_statements_than_the_limit(
    store: Store, statements: StatementCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "_MOST_PREPARED", 0)
    with statements() as sent:
        store.write(lambda unit: put(unit, "a", 1))
    assert begins(sent) == ["INSERT"]
    assert stored(store) == {"a": 1}


def test_only_a_session_s_loss_of_memory_is_taken_for_one() -> None:
    class Refused(Exception):
        pgcode = "26000"

    class Other(Exception):
        pgcode = "23505"

    assert prepared.is_unprepared(DBAPIError("EXECUTE x", None, Refused()))
    assert not prepared.is_unprepared(DBAPIError("EXECUTE x", None, Other()))
    assert not prepared.is_unprepared(DBAPIError("EXECUTE x", None, ValueError()))


def test_preparing_pauses_after_a_session_forgot_and_is_tried_again() -> None:
    class Forgotten(Exception):
        pgcode = "26000"

    now = [100.0]
    preparing = prepared.Preparing(possible=True, clock=lambda: now[0])
    seen = [preparing.on]
    with capture_logs() as logs:
        preparing.pause(DBAPIError("EXECUTE x", None, Forgotten("it does not exist")))
        preparing.pause(DBAPIError("EXECUTE x", None, Forgotten("it does not exist")))
    assert [(each["event"], each["reason"]) for each in logs] == [("prepared_statements_paused", "it does not exist")]
    for seconds in (0, 61):
        now[0] += seconds
        seen.append(preparing.on)
    assert seen == [True, False, True]
    assert not prepared.Preparing(possible=False, clock=lambda: now[0]).on


def test_an_error_of_another_connection_runs_nothing_and_leaves_statements_known_as_they_are(
    store: Store, statements: StatementCounter
) -> None:
    """As when ids are taken from another connection while statements wait in the unit."""

    def fails(unit: Unit) -> None:
        put(unit, "lost", 1)
        with store.read() as connection:
            connection.execute(text("SELECT 1 / 0"))

    def fails_of_driver(unit: Unit) -> None:
        put(unit, "lost", 1)
        raise DBAPIError("SELECT", None, ValueError("of another connection"))

    for work in (fails, fails_of_driver):
        store.write(lambda unit: put(unit, "a", 1))
        with pytest.raises(MetaError):
            store.write(work)
        with statements() as sent:
            store.write(lambda unit: put(unit, "a", 2))
        assert begins(sent) == ["PREPARE"]
    assert stored(store) == {"a": 2}


def test_a_value_that_cannot_be_sent_leaves_its_statement_unknown(store: Store, statements: StatementCounter) -> None:
    def fails(unit: Unit) -> None:
        unit.queue("SELECT %s", ["a\0"], Prepared.of("SELECT %s"))

    with pytest.raises(MetaError):
        store.write(fails)
    with statements() as sent:
        store.write(lambda unit: unit.queue("SELECT %s", ["a"], Prepared.of("SELECT %s")))
    assert begins(sent) == ["PREPARE"]
