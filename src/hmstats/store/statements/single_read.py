"""Reads of one statement, which need no transaction: each sees one snapshot of the database.

Such a read is one round trip to the database, where a transaction takes three, and bypasses SQLAlchemy's connections
and rows, which take as long as the driver. Its text is compiled once for each kind of database. PostgreSQL prepares it
once for each connection: planning takes several times as long as running it. If a pooler gives another session each
time, in which nothing is prepared, the whole text is sent.
"""

import json
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Engine, SelectBase, Text, any_, bindparam, cast, func, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import ARRAY, psycopg2
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import SQLAlchemyError

from hmstats.store.beside_hive.adapted_statements import is_adapted
from hmstats.store.connections.bound_values import check
from hmstats.store.statements.value_sets import array_text
from hmstats.store.unit.prepared import OTHER_SESSION, Prepared
from hmstats.store.unit.unit import Unit

_DIALECTS: Mapping[str, Dialect] = {
    "postgresql": psycopg2.dialect(),  # type: ignore[no-untyped-call]
    "sqlite": sqlite.dialect(paramstyle="named"),
}
OneOf = Callable[[ColumnElement[Any], str], ColumnElement[bool]]
"""Builds the condition that a text column is in the set of a parameter, which `listed` encodes."""


class SingleRead:
    """A query with bound parameters for these dialects; `build` makes it from a OneOf, for conditions on sets."""

    def __init__(self, build: Callable[[OneOf], SelectBase], dialects: Collection[str] = tuple(_DIALECTS)) -> None:
        one_of = {"postgresql": _one_of_array, "sqlite": _one_of_json}
        self.query: Any = build(_one_of_array)
        """The query for PostgreSQL as an expression of SQLAlchemy."""
        self._texts = {
            name: str(build(one_of[name]).compile(dialect=each)) for name, each in _DIALECTS.items() if name in dialects
        }
        self._prepared = Prepared.of_named(self._texts["postgresql"])

    def rows(self, engine: Engine, values: Mapping[str, Any]) -> list[tuple[Any, ...]] | None:
        """Run the query on an engine that begins no transaction. Returns the driver's rows.

        None if the database does not answer; the read that follows raises its error. None too for a Hive's database,
        which the unadapted text does not fit. Raises MetaError for an invalid value.
        """
        check(values.values())
        if is_adapted(engine):
            return None
        errors = (SQLAlchemyError, engine.dialect.loaded_dbapi.Error)
        try:
            pooled = engine.raw_connection()
        except errors:
            return None
        try:
            cursor = pooled.cursor()
            if engine.dialect.name == "sqlite":
                cursor.execute(self._texts["sqlite"], values)
            else:
                self._run_prepared(cursor, pooled.info, values)
            return list(cursor.fetchall())
        except errors as error:
            pooled.invalidate(error)
            return None
        finally:
            pooled.close()

    def rows_in_unit(self, unit: Unit, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run the query in a unit's transaction. Returns the driver's rows. Raises MetaError for an invalid value."""
        check(values.values())
        return list(unit.connection.exec_driver_sql(self._text(unit), dict(values)).cursor.fetchall())

    def rows_after(
        self, before: Sequence["SingleRead"], unit: Unit, values: Mapping[str, Any]
    ) -> list[tuple[Any, ...]]:
        """Run other queries, then this one, in one round trip on PostgreSQL. Returns this one's rows.

        `values` has the parameters of all. Each has a snapshot of its own; the others' rows are ignored.
        """
        check(values.values())
        text = ";\n".join(each._text(unit) for each in (*before, self))  # noqa: SLF001 - of its own kind
        return list(unit.connection.exec_driver_sql(text, dict(values)).cursor.fetchall())

    def _text(self, unit: Unit) -> str:
        text = self._texts[unit.connection.dialect.name]
        return self._prepared.text(unit.connection.info, text) if unit.prepares else text

    def _run_prepared(self, cursor: Any, session: MutableMapping[Any, Any], values: Mapping[str, Any]) -> None:
        """Run the prepared statement on a connection, whose `info` is `session`."""
        unprepared = self._texts["postgresql"]
        try:
            cursor.execute(self._prepared.text(session, unprepared), values)
        except cursor.connection.Error as error:
            if error.pgcode not in OTHER_SESSION:
                raise
            cursor.execute(unprepared, values)


def listed(engine: Engine, texts: Sequence[str]) -> str:
    """Encode texts as the parameter of a condition on a set. Raises MetaError for an invalid text."""
    check(texts)
    return json.dumps(list(texts)) if engine.dialect.name == "sqlite" else array_text(texts)


def _one_of_array(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column == any_(cast(bindparam(name, type_=Text()), ARRAY(Text())))


def _one_of_json(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column.in_(select(func.json_each(bindparam(name, type_=Text())).table_valued("value").c.value))
