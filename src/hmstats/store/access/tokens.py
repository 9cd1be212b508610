"""Delegation tokens and the keys that sign them: DELEGATION_TOKENS and MASTER_KEYS."""

from sqlalchemy import Connection, delete, insert, select, update

from hmstats.store.schema import DELEGATION_TOKENS, MASTER_KEYS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.unit.unit import Unit


def get(connection: Connection, identifier: str) -> str | None:
    """The token of an identifier; None if it has none."""
    t = DELEGATION_TOKENS.c
    return connection.execute(select(t.TOKEN).where(t.TOKEN_IDENT == identifier)).scalar_one_or_none()


def identifiers(connection: Connection) -> list[str]:
    """The identifiers of all tokens, sorted."""
    identifier = DELEGATION_TOKENS.c.TOKEN_IDENT
    return list(connection.execute(select(identifier).order_by(by_bytes(connection, identifier))).scalars())


def insert_one(unit: Unit, identifier: str, token: str) -> None:
    """Insert a token."""
    unit.connection.execute(insert(DELEGATION_TOKENS), {"TOKEN_IDENT": identifier, "TOKEN": token})


def remove(unit: Unit, identifier: str) -> bool:
    """Remove a token. Returns False if it does not exist."""
    removed = unit.connection.execute(delete(DELEGATION_TOKENS).where(DELEGATION_TOKENS.c.TOKEN_IDENT == identifier))
    return removed.rowcount > 0


def keys(connection: Connection) -> list[str]:
    """All master keys, the oldest first."""
    return list(connection.execute(select(MASTER_KEYS.c.MASTER_KEY).order_by(MASTER_KEYS.c.KEY_ID)).scalars())


def insert_key(unit: Unit, key: str) -> int:
    """Insert a master key. Returns its id."""
    statement = insert(MASTER_KEYS).values(MASTER_KEY=key).returning(MASTER_KEYS.c.KEY_ID)
    return int(unit.connection.execute(statement).scalar_one())


def replace_key(unit: Unit, key_id: int, key: str) -> bool:
    """Replace the master key with this id. Returns False if it does not exist."""
    here = MASTER_KEYS.c.KEY_ID == key_id
    return unit.connection.execute(update(MASTER_KEYS).where(here).values(MASTER_KEY=key)).rowcount > 0


def remove_key(unit: Unit, key_id: int) -> bool:
    """Remove the master key with this id. Returns False if it does not exist."""
    return unit.connection.execute(delete(MASTER_KEYS).where(MASTER_KEYS.c.KEY_ID == key_id)).rowcount > 0
