"""Tokens that stand for a proof by Kerberos: HMSTATS_DELEGATION_TOKEN. Times are those of the database's clock."""

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.model.access.delegation_token import DelegationToken
from hmstats.store.schema import HMSTATS_DELEGATION_TOKEN as TOKENS
from hmstats.store.statements.database_clock import now_ms
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit

_T = TOKENS.c
_COLUMNS = (_T.NUMBER, _T.OWNER_NAME, _T.RENEWER, _T.REAL_USER, _T.ISSUED_AT, _T.ENDS_AT)
_NUMBER_BITS = 31
"""Clients read the number as a signed integer of 32 bits."""


class StoredToken(NamedTuple):
    """A token with its secret, and the database's time in epoch ms."""

    token: DelegationToken
    secret: str
    now_ms: int


def valid(connection: Connection, number: int) -> StoredToken | None:
    """The token with this number that is not expired; None if there is none."""
    now = now_ms(connection)
    query = select(*_COLUMNS, _T.SECRET, now).where(_T.NUMBER == number, now < _T.EXPIRES_AT)
    row = connection.execute(query).one_or_none()
    return None if row is None else StoredToken(DelegationToken(*row[:6]), row[6], int(row[7]))


def valid_numbers(connection: Connection, numbers: Sequence[int]) -> set[int]:
    """The numbers among these of tokens that are not expired."""
    lasting = now_ms(connection) < _T.EXPIRES_AT
    return set(connection.execute(select(_T.NUMBER).where(one_of(connection, _T.NUMBER, numbers), lasting)).scalars())


def insert_one(unit: Unit, secret: str, users: tuple[str, str, str], life_ms: int, valid_ms: int) -> DelegationToken:
    """Insert a token of owner, renewer and real user under a free number, valid for so many milliseconds."""
    now = int(unit.connection.execute(select(now_ms(unit.connection))).scalar_one())
    while True:
        token = DelegationToken(secrets.randbits(_NUMBER_BITS), *users, now, now + life_ms)
        if _insert(unit, token, secret, now + min(life_ms, valid_ms)):
            return token


def renew(unit: Unit, number: int, expires_ms: int) -> None:
    """Let a token expire at another time."""
    unit.connection.execute(update(TOKENS).where(_T.NUMBER == number).values(EXPIRES_AT=expires_ms))


def remove(unit: Unit, number: int) -> None:
    """Remove a token."""
    unit.connection.execute(delete(TOKENS).where(_T.NUMBER == number))


def remove_expired(unit: Unit) -> int:
    """Remove expired tokens. Returns their number."""
    return unit.connection.execute(delete(TOKENS).where(_T.EXPIRES_AT <= now_ms(unit.connection))).rowcount


def _insert(unit: Unit, token: DelegationToken, secret: str, expires_ms: int) -> bool:
    """Insert a row. Returns False if its number is taken."""
    dialect: Any = sqlite if unit.connection.dialect.name == "sqlite" else postgresql
    row = {
        "NUMBER": token.number,
        "SECRET": secret,
        "OWNER_NAME": token.owner,
        "RENEWER": token.renewer,
        "REAL_USER": token.real_user,
        "ISSUED_AT": token.issued_ms,
        "ENDS_AT": token.ends_ms,
        "EXPIRES_AT": expires_ms,
    }
    statement = dialect.insert(TOKENS).values(row).on_conflict_do_nothing().returning(_T.NUMBER)
    return unit.connection.execute(statement).one_or_none() is not None
