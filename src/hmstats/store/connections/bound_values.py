"""Checks values before they are sent, with the same limits and errors on every database.

PostgreSQL refuses a NUL in a text, and a text longer than its column; SQLite accepts both. Neither accepts a number
of more than 64 bits. Some of the drivers' own errors would mean nothing to a client.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat
from operator import contains
from typing import Any

from sqlalchemy import Column, Engine, String, event

from hmstats.errors import MetaError

_LEAST, _MOST = -(2**63), 2**63 - 1
_FEW, _SHORT = 200, 1_000
"""Limits of cached checks: texts in a set, and characters of their column."""
_SHOWN = 40
"""Most characters of a refused text in an error."""


def check_parameters(engine: Engine) -> None:
    """Check the values of every statement of the engine before it is sent; raises MetaError for an invalid one."""

    @event.listens_for(engine, "before_cursor_execute")
    def on_statement(_c: object, _cursor: object, _sql: str, parameters: Any, context: Any, _many: object) -> None:
        check(_values(parameters))
        if context is not None and (context.isinsert or context.isupdate):
            _check_sizes(context)


def check(values: Iterable[object]) -> None:
    """Raise MetaError if a value is a text with a NUL, or a number of more than 64 bits."""
    listed = values if isinstance(values, Sequence) else list(values)
    kinds = set(map(type, listed))
    if kinds == {int} and _LEAST <= min(listed) and max(listed) <= _MOST:  # most sets are of one type
        return
    if kinds == {str} and not any(map(contains, listed, repeat("\0"))):
        return
    for value in listed:
        if isinstance(value, str):
            if "\0" in value:
                raise MetaError(f"a text cannot have the character NUL, found {_shown(value)}")
        elif isinstance(value, int) and not _LEAST <= value <= _MOST:
            raise MetaError(f"a number must fit in 64 bits, found {value}")


def check_column(column: Column[Any], values: Sequence[Any]) -> None:
    """Raise MetaError if a value is a text with a NUL, or too long for the column."""
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
    """Check a few texts; cached, since the names of a table's columns come again with each write."""
    _check_texts(name, most, values)


def _values(parameters: Any) -> Iterator[object]:
    """The values of a statement's parameters, which are a mapping, a sequence, or a list of these."""
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
