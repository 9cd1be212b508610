"""What the definitions of tables are written with: the naming of constraints, and short forms of columns."""

from typing import Any

from sqlalchemy import BigInteger, Column, ForeignKey, Index, MetaData, String, Table, Text

METADATA = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_name)s_key",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
    }
)
"""PostgreSQL's own naming, which most of Hive's constraints follow; the others say their names below."""


def key(name: str, length: int | None = None, *, refers: str | None = None, called: str | None = None) -> Column[Any]:
    """A column of the primary key: a bigint, or a text of a length."""
    kind = String(length) if length else BigInteger
    return Column(name, kind, *_reference(refers, called), primary_key=True, autoincrement=False)


def big(name: str, *, required: bool = False, refers: str | None = None, called: str | None = None) -> Column[int]:
    """A bigint."""
    return Column(name, BigInteger, *_reference(refers, called), nullable=not required)


def text(name: str, length: int | None = None, *, required: bool = False) -> Column[str]:
    """A text, of a length where Hive gives one."""
    return Column(name, String(length) if length else Text, nullable=not required)


def _reference(refers: str | None, called: str | None) -> list[ForeignKey]:
    """The foreign key to `refers`, named `called` where Hive departs from the naming above."""
    return [ForeignKey(refers, name=called, deferrable=True)] if refers else []


def parameters(name: str, owner: str, parent: str) -> Table:
    """A table of parameters: a key and a value for each row of `parent`."""
    return Table(
        name,
        METADATA,
        key(owner, refers=f"{parent}.{owner}"),
        key("PARAM_KEY", 256),
        text("PARAM_VALUE"),
        Index(f"{name}_N49", owner),
    )


ROOM: dict[str, Any] = {"postgresql_with": {"fillfactor": 50}}
"""Half of each page is kept free where rows are updated over and over: the new row then goes into the same page.

PostgreSQL then changes no index (HOT updates); docs/performance.md has what that is worth.
"""
MORE_ROOM: dict[str, Any] = {"postgresql_with": {"fillfactor": 40}}
"""The same where long writes go on beside each other: the row before the last then still takes its place."""
