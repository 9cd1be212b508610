"""Adapts statements to a database that lacks some of our tables or columns (present_tables.py), during compilation.

If a statement reads from such a table, the table is replaced by a query that has all of its columns: the existing ones,
and for each missing one the only value that it can have. PostgreSQL flattens such a query, so it costs nothing. If a
statement changes such a table, missing columns are left out. A missing table is read as an empty one; a delete from it
does nothing, and an insert is refused.

Beside a Hive a column can have two rows of statistics, since Hive's tables have no unique index (healing_upserts.py).
Only the newest of them is read.
"""

from copy import copy
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, Delete, Dialect, Engine, Table, Update
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql.base import PGCompiler
from sqlalchemy.sql.elements import TextClause
from sqlalchemy.util import immutabledict

from hmstats.store.beside_hive.present_tables import COMPLETE, Shape

_ONLY_VALUES: dict[str, Any] = {"CAT_NAME": "hive", "ENGINE": "hive"}
"""Values of missing columns that are neither their default nor NULL: there is one catalog and one engine."""
_ONLY_ROWS: dict[str, dict[str, Any]] = {
    "CTLGS": {"CTLG_ID": 1, "NAME": "hive", "DESC": "Default catalog for Hive", "LOCATION_URI": "TBD"}
}
"""The only row of a missing table, by table."""
_NO_OP = "SELECT 1 WHERE false"
_OWNERS = {"TAB_COL_STATS": "TBL_ID", "PART_COL_STATS": "PART_ID"}
"""Tables in which Hive can store duplicate rows, with the column of the row's owner."""
_AGE = ("LAST_ANALYZED", "CS_ID")


class _Compiler(PGCompiler):
    """Compiles statements to SQL; each shape has a subclass of its own."""

    shape = COMPLETE

    def visit_table(self, table: Any, **more: Any) -> Any:  # type: ignore[override]
        """In a FROM, the query that replaces a table with missing columns, under the name of the table."""
        text = super().visit_table(table, **more)  # type: ignore[no-untyped-call]
        if not more.get("asfrom") or more.get("iscrud") or more.get("ashint") or self._is_whole(table):
            return text
        query = f"({self._replacement(table)})"
        # SQLAlchemy tells the tables inside of a subquery too which alias encloses them.
        named = getattr(more.get("enclosing_alias"), "element", None) is table
        return query if named else f"{query} AS {self.preparer.quote(table.name)}"

    def visit_column(self, column: Any, *positional: Any, **more: Any) -> str:
        """In an UPDATE or DELETE, the only value of a missing column in place of its name."""
        text = super().visit_column(column, *positional, **more)
        changed = self.stack[-1].get("selectable") if self.stack else None
        mine = isinstance(changed, Update | Delete) and changed.table is column.table
        return self._value(column) if mine and column.name in self.shape.absent(column.table) else text

    def visit_insert(self, insert_stmt: Any, *positional: Any, **more: Any) -> Any:
        """The INSERT without missing columns."""
        adapted = self._without_missing_columns(insert_stmt)
        return super().visit_insert(adapted, *positional, **more)  # type: ignore[no-untyped-call]

    def visit_update(self, update_stmt: Any, *positional: Any, **more: Any) -> Any:
        """The UPDATE without missing columns; a statement without effect if nothing is left of it."""
        adapted = None if self.shape.lacks(update_stmt.table) else self._without_missing_columns(update_stmt)
        if adapted is None or not (_values(adapted) or set(self.column_keys or ()) & set(adapted.table.c.keys())):
            return self._no_op(update_stmt)
        return super().visit_update(adapted, *positional, **more)

    def visit_delete(self, delete_stmt: Any, *positional: Any, **more: Any) -> Any:
        """The DELETE; a statement without effect if the table is missing."""
        if self.shape.lacks(delete_stmt.table):
            return self._no_op(delete_stmt)
        return super().visit_delete(delete_stmt, *positional, **more)  # type: ignore[no-untyped-call]

    def _no_op(self, statement: Update | Delete) -> str:
        """A statement that changes nothing, for a missing table. Raises MetaError if it should return rows."""
        if statement.exported_columns:
            self.shape.present(statement.entity_description["table"], ())
        return _NO_OP

    def _without_missing_columns(self, statement: Any) -> Any:
        """The statement without the values of missing columns."""
        present = self.shape.present(statement.table, statement.table.c.keys())
        if self.column_keys is not None:
            self.column_keys = self.shape.present(statement.table, self.column_keys)
        values = _values(statement)
        if not values or {*map(_key, values)} <= {*present}:
            return statement
        adapted = copy(statement)
        adapted._values = immutabledict({each: value for each, value in values.items() if _key(each) in present})  # noqa: SLF001
        return adapted

    def _is_whole(self, table: Any) -> bool:
        """Whether the table can be read as it is."""
        if not isinstance(table, Table):
            return True
        return not (table.name in _OWNERS or self.shape.lacks(table) or self.shape.absent(table))

    def _replacement(self, table: Table) -> str:
        """The query that replaces the table, with all of its columns."""
        quoted, absent = self.preparer.quote, self.shape.absent(table)
        if self.shape.lacks(table):
            columns = ", ".join(f"{self._value(each)} AS {quoted(each.name)}" for each in table.c)
            return f"SELECT {columns}" + ("" if table.name in _ONLY_ROWS else " WHERE false")
        selected = (
            f"{self._value(each)} AS {quoted(each.name)}" if each.name in absent else quoted(each.name)
            for each in table.c
        )
        return f"SELECT {', '.join(selected)} FROM {quoted(table.name)}{self._newest(table)}"

    def _newest(self, table: Table) -> str:
        """The condition that a row is the newest of its duplicates; empty for tables without duplicates."""
        if table.name not in _OWNERS:
            return ""
        names = self.shape.present(table, (_OWNERS[table.name], "COLUMN_NAME", "ENGINE"))
        mine = self.preparer.quote(table.name)
        same = " AND ".join(f'newer."{name}" = {mine}."{name}"' for name in names)
        age, newer = (", ".join(f'{each}."{name}"' for name in _AGE) for each in (mine, "newer"))
        return f" WHERE NOT EXISTS (SELECT 1 FROM {mine} AS newer WHERE {same} AND ({newer}) > ({age}))"

    def _value(self, column: Column[Any]) -> str:
        """The SQL value that replaces a missing column."""
        kind = column.type.compile(self.dialect)
        value = _only_value(column)
        return f"CAST(NULL AS {kind})" if value is None else f"CAST('{value}' AS {kind})"


def adapt(engine: Engine, shape: Shape) -> None:
    """Adapt every statement of the engine to a shape from now on."""
    if shape is not COMPLETE:
        engine.clear_compiled_cache()
        engine.dialect.statement_compiler = _compiler(shape, engine.dialect.statement_compiler)


def is_adapted(engine: Engine) -> bool:
    """Whether the engine's statements are adapted to a shape other than WHOLE."""
    return issubclass(engine.dialect.statement_compiler, _Compiler)


@lru_cache(maxsize=10)
def dialect(shape: Shape, paramstyle: Any) -> Dialect:
    """The dialect that compiles statements for PostgreSQL with this style of parameters, adapted to the shape."""
    adapted: Dialect = postgresql.psycopg2.dialect(paramstyle=paramstyle)  # type: ignore[no-untyped-call]
    if shape is not COMPLETE:
        adapted.statement_compiler = _compiler(shape, adapted.statement_compiler)
    return adapted


def _compiler(shape: Shape, base: type) -> Any:
    return type("Compiler", (_Compiler, base), {"shape": shape})


def _values(statement: Any) -> Any:
    # SQLAlchemy has no public access to the values.
    return statement._values  # noqa: SLF001


def _key(column: Any) -> str:
    """The column's name; a statement's values have names or columns as keys."""
    return column if isinstance(column, str) else str(column.key)


def _only_value(column: Column[Any]) -> Any:
    row = _ONLY_ROWS.get(column.table.name, _ONLY_VALUES)
    default = column.server_default
    if column.name in row or default is None:
        return row.get(column.name)
    value = getattr(default, "arg", None)
    return value.text if isinstance(value, TextClause) else value
