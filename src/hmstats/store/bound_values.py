"""Which values a database takes: the same on all of them, and said in one way.

PostgreSQL takes no NUL in a text, and no text longer than its column, where SQLite takes both. Neither takes a number
of more than 64 bits. Of some of this their drivers say nothing that a client could read.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Column, Engine, String, event

from hmstats.errors import MetaError

_LEAST, _MOST = -(2**63), 2**63 - 1
_FEW, _SHORT = 200, 1_000
"""Texts that are remembered once they were checked, and how long their column's may be."""
_SHOWN = 40
"""Characters of a refused text that an error shows."""


def check_parameters(engine: Engine) -> None:
    """Have every statement of the engine checked before it is sent. It raises MetaError for a value that cannot be."""

    @event.listens_for(engine, "before_cursor_execute")
    def on_statement(_c: object, _cursor: object, _sql: str, parameters: Any, context: Any, _many: object) -> None:
        check(_values(parameters))
        if context is not None and (context.isinsert or context.isupdate):
            _check_sizes(context)


def check(values: Iterable[object]) -> None:
    """Raises MetaError when one of the values is a text with a NUL in it, or a number of more than 64 bits."""
    for value in values:
        if isinstance(value, str):
            if "\0" in value:
                raise MetaError(f"a text cannot have the character NUL, found {_shown(value)}")
        elif isinstance(value, int) and not _LEAST <= value <= _MOST:
            raise MetaError(f"a number must fit in 64 bits, found {value}")


def check_column(column: Column[Any], values: Sequence[Any]) -> None:
    """Raises MetaError when one of the values is a text that has NULs or is too long for the column."""
    if isinstance(column.type, String):
        length = column.type.length
        if len(values) == 1 or not length or length > _SHORT or len(values) > _FEW:
            _check_texts(column.name, length, values)
        else:
            _check_few_texts(column.name, length, tuple(values))


def _check_texts(name: str, most: int | None, values: Iterable[Any]) -> None:
    check(values)
    _check_size(name, most, values)


@lru_cache(maxsize=100)
def _check_few_texts(name: str, most: int, values: tuple[Any, ...]) -> None:
    """The same, remembered: the names of a table's columns come again with each write."""
    _check_texts(name, most, values)


def _values(parameters: Any) -> Iterator[object]:
    """The values of a statement's parameters: a mapping or a sequence, or many of these."""
    if isinstance(parameters, dict):
        yield from parameters.values()
    elif isinstance(parameters, list):
        yield from chain.from_iterable(map(_values, parameters))
    else:
        yield from parameters or ()


def _check_sizes(context: Any) -> None:
    for bound, name in context.compiled.bind_names.items():
        if isinstance(bound.type, String) and bound.type.length:
            _check_size(name, bound.type.length, [row.get(name) for row in context.compiled_parameters])


def _check_size(name: str, most: int | None, values: Iterable[Any]) -> None:
    for value in values:
        if most and value is not None and len(value) > most:
            raise MetaError(f"{name} can have {most} characters, found {len(value)}: {_shown(value)}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
