"""The database's clock, which gives one time to servers whose own clocks differ."""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, extract, func

_EPOCH_JULIAN_DAY = 2440587.5
_DAY_MS = 86_400_000


def now_ms(connection: Connection) -> ColumnElement[Any]:
    """An expression for the time at which a statement runs, in epoch milliseconds."""
    if connection.dialect.name == "sqlite":
        return cast((func.julianday("now") - _EPOCH_JULIAN_DAY) * _DAY_MS, BigInteger)
    # now() would be the time at which the transaction began, before it waited for others.
    return cast(func.floor(extract("epoch", func.clock_timestamp()) * 1000), BigInteger)
