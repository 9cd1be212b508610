"""Statements over a database that lacks some of our tables' columns (store/shape.py), adapted as they become SQL.

Where a statement reads from such a table, it reads from a query in its place that has all of the columns: those that
are there, and for each other one the value that it could only have. PostgreSQL takes such a query apart, so it costs
nothing. Where a statement changes such a table, it leaves the other columns out. A table that is not there at all is
read as one without rows; to delete from it does nothing, and to insert is refused.

Beside a Hive a column can have two rows of statistics, since nothing in Hive's tables forbids it (store/healing.py).
Read is the newest of them only.
"""

from copy import copy
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, Delete, Dialect, Engine, Table, Update
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql.base import PGCompiler
from sqlalchemy.sql.elements import TextClause
from sqlalchemy.util import immutabledict

from hmstats.store.shape import WHOLE, Shape

_ONLY_VALUES: dict[str, Any] = {"CAT_NAME": "hive", "ENGINE": "hive"}
"""What stands for a column that is not there, where it is neither its default nor NULL: one catalog and one engine."""
_ONLY_ROWS: dict[str, dict[str, Any]] = {
    "CTLGS": {"CTLG_ID": 1, "NAME": "hive", "DESC": "Default catalog for Hive", "LOCATION_URI": "TBD"}
}
"""The one row that a table that is not there would have."""
_NOTHING = "SELECT 1 WHERE false"
_OWNERS = {"TAB_COL_STATS": "TBL_ID", "PART_COL_STATS": "PART_ID"}
"""Tables where Hive can leave two rows for one, and the column with whose row it is."""
_AGE = ("LAST_ANALYZED", "CS_ID")


class _Compiler(PGCompiler):
    """What makes SQL of statements; each shape has a class of its own."""

    shape = WHOLE

    def visit_table(self, table: Any, **more: Any) -> Any:  # type: ignore[override]
        text = super().visit_table(table, **more)  # type: ignore[no-untyped-call]
        if not more.get("asfrom") or more.get("iscrud") or more.get("ashint") or self._is_whole(table):
            return text
        query = f"({self._stand_in(table)})"
        return query if more.get("enclosing_alias") is not None else f"{query} AS {self.preparer.quote(table.name)}"

    def visit_column(self, column: Any, *positional: Any, **more: Any) -> str:
        text = super().visit_column(column, *positional, **more)
        changed = self.stack[-1].get("selectable") if self.stack else None
        mine = isinstance(changed, Update | Delete) and changed.table is column.table
        return self._value(column) if mine and column.name in self.shape.absent(column.table) else text

    def visit_insert(self, insert_stmt: Any, *positional: Any, **more: Any) -> Any:
        kept = self._without_absent(insert_stmt)
        return super().visit_insert(kept, *positional, **more)  # type: ignore[no-untyped-call]

    def visit_update(self, update_stmt: Any, *positional: Any, **more: Any) -> Any:
        kept = None if self.shape.lacks(update_stmt.table) else self._without_absent(update_stmt)
        if kept is None or not (_values(kept) or set(self.column_keys or ()) & set(kept.table.c.keys())):
            return self._nothing(update_stmt)
        return super().visit_update(kept, *positional, **more)

    def visit_delete(self, delete_stmt: Any, *positional: Any, **more: Any) -> Any:
        if self.shape.lacks(delete_stmt.table):
            return self._nothing(delete_stmt)
        return super().visit_delete(delete_stmt, *positional, **more)  # type: ignore[no-untyped-call]

    def _nothing(self, statement: Update | Delete) -> str:
        """Nothing is there to change; whoever waits for what was changed is told so."""
        if statement.exported_columns:
            self.shape.present(statement.entity_description["table"], ())
        return _NOTHING

    def _without_absent(self, statement: Any) -> Any:
        """The statement without the values of columns that are not there."""
        present = self.shape.present(statement.table, statement.table.c.keys())
        if self.column_keys is not None:
            self.column_keys = self.shape.present(statement.table, self.column_keys)
        values = _values(statement)
        if not values or {*map(_key, values)} <= {*present}:
            return statement
        kept = copy(statement)
        kept._values = immutabledict({each: value for each, value in values.items() if _key(each) in present})  # noqa: SLF001
        return kept

    def _is_whole(self, table: Any) -> bool:
        """Whether what is there can be read as it is."""
        if not isinstance(table, Table):
            return True
        return not (table.name in _OWNERS or self.shape.lacks(table) or self.shape.absent(table))

    def _stand_in(self, table: Table) -> str:
        """The query that has all columns of the table."""
        quoted, absent = self.preparer.quote, self.shape.absent(table)
        if self.shape.lacks(table):
            columns = ", ".join(f"{self._value(each)} AS {quoted(each.name)}" for each in table.c)
            return f"SELECT {columns}" + ("" if table.name in _ONLY_ROWS else " WHERE false")
        there = (
            f"{self._value(each)} AS {quoted(each.name)}" if each.name in absent else quoted(each.name)
            for each in table.c
        )
        return f"SELECT {', '.join(there)} FROM {quoted(table.name)}{self._newest(table)}"

    def _newest(self, table: Table) -> str:
        """The condition that the row is the newest of its column's statistics, where there can be two."""
        if table.name not in _OWNERS:
            return ""
        names = self.shape.present(table, (_OWNERS[table.name], "COLUMN_NAME", "ENGINE"))
        mine = self.preparer.quote(table.name)
        same = " AND ".join(f'newer."{name}" = {mine}."{name}"' for name in names)
        age, newer = (", ".join(f'{each}."{name}"' for name in _AGE) for each in (mine, "newer"))
        return f" WHERE NOT EXISTS (SELECT 1 FROM {mine} AS newer WHERE {same} AND ({newer}) > ({age}))"

    def _value(self, column: Column[Any]) -> str:
        """What stands for a column that is not there."""
        kind = column.type.compile(self.dialect)
        value = _only_value(column)
        return f"CAST(NULL AS {kind})" if value is None else f"CAST('{value}' AS {kind})"


def adapt(engine: Engine, shape: Shape) -> None:
    """Have every statement of the engine adapted from now on."""
    if shape is not WHOLE:
        engine.clear_compiled_cache()
        engine.dialect.statement_compiler = _compiler(shape, engine.dialect.statement_compiler)


def is_adapted(engine: Engine) -> bool:
    """Whether `adapt` was called for it with a shape that is not ours."""
    return issubclass(engine.dialect.statement_compiler, _Compiler)


@lru_cache(maxsize=10)
def dialect(shape: Shape, paramstyle: Any) -> Dialect:
    """What makes the text of a statement for PostgreSQL, whose parameters are written in this style."""
    made: Dialect = postgresql.psycopg2.dialect(paramstyle=paramstyle)  # type: ignore[no-untyped-call]
    if shape is not WHOLE:
        made.statement_compiler = _compiler(shape, made.statement_compiler)
    return made


def _compiler(shape: Shape, base: type) -> Any:
    return type("Compiler", (_Compiler, base), {"shape": shape})


def _values(statement: Any) -> Any:
    # SQLAlchemy gives values away in no other way.
    return statement._values  # noqa: SLF001


def _key(column: Any) -> str:
    """The name of a column, which a statement's values are told by, or by the column itself."""
    return column if isinstance(column, str) else str(column.key)


def _only_value(column: Column[Any]) -> Any:
    row = _ONLY_ROWS.get(column.table.name, _ONLY_VALUES)
    default = column.server_default
    if column.name in row or default is None:
        return row.get(column.name)
    said = getattr(default, "arg", None)
    return said.text if isinstance(said, TextClause) else said
