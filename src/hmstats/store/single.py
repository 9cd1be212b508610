"""Reads of one statement, which need no transaction: each sees one picture of the database by itself.

Such a read is one round trip to the database, where a transaction takes three, and passes by SQLAlchemy's connections
and rows, which take as long as the driver. Its text is made once for each kind of database. PostgreSQL prepares it once
for each connection: to plan it takes several times as long as to run it. Where a pooler lends another session each
time, which knows of nothing prepared, the text is sent whole.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Engine, SelectBase, Text, any_, bindparam, cast, func, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import ARRAY, psycopg2
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import SQLAlchemyError

from hmstats.store.bound_values import check
from hmstats.store.prepared import OTHER_SESSION, Prepared, name_of
from hmstats.store.sets import array_text
from hmstats.store.stand_ins import is_adapted
from hmstats.store.unit import Unit

_DIALECTS: Mapping[str, Dialect] = {
    "postgresql": psycopg2.dialect(),  # type: ignore[no-untyped-call]
    "sqlite": sqlite.dialect(paramstyle="named"),
}
OneOf = Callable[[ColumnElement[Any], str], ColumnElement[bool]]
"""Makes the condition that a text column is one of a parameter's values; `listed` makes such a parameter."""


_PARAMETER = re.compile(r"%\((\w+)\)s")


class SingleRead:
    """A query of bound parameters; `build` makes it, given what makes conditions on sets, for these dialects."""

    def __init__(self, build: Callable[[OneOf], SelectBase], dialects: Collection[str] = tuple(_DIALECTS)) -> None:
        one_of = {"postgresql": _one_of_array, "sqlite": _one_of_json}
        self.query: Any = build(_one_of_array)
        """The same for PostgreSQL, for SQLAlchemy."""
        self._texts = {
            name: str(build(one_of[name]).compile(dialect=each)) for name, each in _DIALECTS.items() if name in dialects
        }
        self._prepared = _prepared(self._texts["postgresql"])

    def rows(self, engine: Engine, values: Mapping[str, Any]) -> list[tuple[Any, ...]] | None:
        """The rows as the driver gives them; `engine` begins no transaction.

        None when the database does not answer: the read that follows says what is wrong with it. None too where the
        database is a Hive's: the statement, which is one text for all, does not fit it.
        """
        check(values.values())
        if is_adapted(engine):
            return None
        refused = (SQLAlchemyError, engine.dialect.loaded_dbapi.Error)
        try:
            lent = engine.raw_connection()
        except refused:
            return None
        try:
            cursor = lent.cursor()
            if engine.dialect.name == "sqlite":
                cursor.execute(self._texts["sqlite"], values)
            else:
                self._run_prepared(cursor, lent.info, values)
            return list(cursor.fetchall())
        except refused as error:
            lent.invalidate(error)
            return None
        finally:
            lent.close()

    def within(self, unit: Unit, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """The rows in a unit's transaction, as the driver gives them."""
        check(values.values())
        return list(unit.connection.exec_driver_sql(self._text(unit), dict(values)).cursor.fetchall())

    def after(self, before: Sequence["SingleRead"], unit: Unit, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """The same on PostgreSQL, other statements having run before, in one round trip.

        `values` has the parameters of all. Each sees what is there when it begins; the others' rows are passed over.
        """
        check(values.values())
        text = ";\n".join(each._text(unit) for each in (*before, self))  # noqa: SLF001 - of its own kind
        return list(unit.connection.exec_driver_sql(text, dict(values)).cursor.fetchall())

    def _text(self, unit: Unit) -> str:
        text = self._texts[unit.connection.dialect.name]
        return self._prepared.text(unit.connection, text) if unit.prepares else text

    def _run_prepared(self, cursor: Any, known: dict[Any, Any], values: Mapping[str, Any]) -> None:
        """Run the statement on a connection, of which `known` has the names of those that it prepared."""
        try:
            if self._prepared.name not in known:
                cursor.execute(self._prepared.prepare)
                known[self._prepared.name] = True
            cursor.execute(self._prepared.run, values)
        except cursor.connection.Error as error:
            if error.pgcode not in OTHER_SESSION:
                raise
            cursor.execute(self._texts["postgresql"], values)


def _prepared(text: str) -> Prepared:
    """The same statement prepared, its parameters by their names as before."""
    name = name_of(text)
    parameters = list(dict.fromkeys(_PARAMETER.findall(text)))
    places = {parameter: f"${place}" for place, parameter in enumerate(parameters, 1)}
    numbered = _PARAMETER.sub(lambda found: places[found[1]], text).replace("%%", "%")
    given = ", ".join(f"%({parameter})s" for parameter in parameters)
    return Prepared(name, f"PREPARE {name} AS {numbered}", f"EXECUTE {name}({given})")


def listed(engine: Engine, texts: Sequence[str]) -> str:
    """Texts as the parameter of a condition on a set."""
    check(texts)
    return json.dumps(list(texts)) if engine.dialect.name == "sqlite" else array_text(texts)


def _one_of_array(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column == any_(cast(bindparam(name, type_=Text()), ARRAY(Text())))


def _one_of_json(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column.in_(select(func.json_each(bindparam(name, type_=Text())).table_valued("value").c.value))
