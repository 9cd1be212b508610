"""Helpers for the definitions of tables: names of constraints, and short forms of columns."""

from typing import Any

from sqlalchemy import BigInteger, Column, ForeignKey, Index, MetaData, String, Table, Text

METADATA = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_name)s_key",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
    }
)
"""PostgreSQL's default names of constraints, which most of Hive's have; others are named in their definitions."""


def key(name: str, length: int | None = None, *, refers: str | None = None, called: str | None = None) -> Column[Any]:
    """A column of the primary key: a bigint, or with `length` a varchar."""
    kind = String(length) if length else BigInteger
    return Column(name, kind, *_reference(refers, called), primary_key=True, autoincrement=False)


def big(name: str, *, required: bool = False, refers: str | None = None, called: str | None = None) -> Column[int]:
    """A bigint column."""
    return Column(name, BigInteger, *_reference(refers, called), nullable=not required)


def text(name: str, length: int | None = None, *, required: bool = False) -> Column[str]:
    """A text column, with `length` a varchar."""
    return Column(name, String(length) if length else Text, nullable=not required)


def _reference(refers: str | None, called: str | None) -> list[ForeignKey]:
    """The foreign key to `refers`; `called` is its name if Hive's differs from the default."""
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


ROOM: dict[str, Any] = {"info": {"fillfactor": 50}}
"""Storage options of tables whose rows are updated often: half of each page is free for new versions of its rows.

PostgreSQL then updates no index (HOT updates); docs/inside/performance-log.md has the effect. Migrations set them.
"""
MORE_ROOM: dict[str, Any] = {"info": {"fillfactor": 40}}
"""Storage options of tables with long concurrent writes: more of each page is free, for two old versions of a row."""
