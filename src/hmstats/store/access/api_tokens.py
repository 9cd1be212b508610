"""Tokens by which clients prove who they are: HMSTATS_API_TOKEN."""

import json
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select
from sqlalchemy.exc import IntegrityError

from hmstats.errors import AlreadyExists
from hmstats.model.access.api_token import ApiToken
from hmstats.store.schema import HMSTATS_API_TOKEN as TOKENS
from hmstats.store.statements.database_clock import now_ms
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.unit.unit import Unit

_T = TOKENS.c
_COLUMNS = (_T.NAME, _T.USER_NAME, _T.USER_GROUPS, _T.CREATED_AT, _T.EXPIRES_AT)


def valid(connection: Connection, hashed: str) -> tuple[ApiToken, int] | None:
    """The token with this hash that is not expired, and the database's time in epoch ms; None if there is none."""
    now = now_ms(connection)
    lasting = or_(_T.EXPIRES_AT.is_(None), now < _T.EXPIRES_AT)
    row = connection.execute(select(*_COLUMNS, now).where(_T.HASH == hashed, lasting)).one_or_none()
    return None if row is None else (_token(row), int(row[-1]))


def all_tokens(connection: Connection) -> list[ApiToken]:
    """All tokens by name, expired ones too."""
    return [_token(row) for row in connection.execute(select(*_COLUMNS).order_by(by_bytes(connection, _T.NAME)))]


def insert_one(unit: Unit, hashed: str, name: str, user: str, groups: tuple[str, ...], valid_ms: int | None) -> None:
    """Insert a token that is valid for so long by the database's clock. Raises AlreadyExists if its name is taken."""
    now: int = unit.connection.execute(select(now_ms(unit.connection))).scalar_one()
    expires = None if valid_ms is None else now + valid_ms
    row = (hashed, name, user, json.dumps(groups), now, expires)
    try:
        unit.connection.execute(insert(TOKENS), dict(zip(TOKENS.columns.keys(), row, strict=True)))
    except IntegrityError as error:
        raise AlreadyExists(f"token {name} exists already: revoke it first, or take another name") from error


def remove(unit: Unit, name: str) -> bool:
    """Remove a token. Returns False if it does not exist."""
    return unit.connection.execute(delete(TOKENS).where(_T.NAME == name)).rowcount > 0


def _token(row: Any) -> ApiToken:
    return ApiToken(row[0], row[1], tuple(json.loads(row[2])), row[3], row[4])
