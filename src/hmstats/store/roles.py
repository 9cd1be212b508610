"""Roles: ROLES, and who has them in ROLE_MAP."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select, update

from hmstats.model.privileges import ROLE, Principal, Role, RoleGrant
from hmstats.store import ids
from hmstats.store.schema import ROLE_MAP, ROLES
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit

_GRANTED = ROLE_MAP.join(ROLES, ROLES.c.ROLE_ID == ROLE_MAP.c.ROLE_ID)


def names(connection: Connection) -> list[str]:
    """The names of all roles, sorted."""
    return list(connection.execute(select(ROLES.c.ROLE_NAME).order_by(ROLES.c.ROLE_NAME)).scalars())


def get_many(connection: Connection, wanted: Collection[str]) -> dict[str, Role]:
    """Those of the named roles that exist, by name."""
    rows = connection.execute(select(ROLES).where(one_of(connection, ROLES.c.ROLE_NAME, sorted(wanted))))
    return {row.ROLE_NAME: Role(row.ROLE_NAME, row.OWNER_NAME, row.CREATE_TIME) for row in rows}


def lock(unit: Unit, name: str) -> int | None:
    """The role's id, its row locked until the unit ends; None when there is no such role."""
    query = select(ROLES.c.ROLE_ID).where(ROLES.c.ROLE_NAME == name)
    return unit.connection.execute(query.with_for_update()).scalar_one_or_none()


def insert_one(unit: Unit, role: Role) -> None:
    """Write a new role, made now."""
    row = {"ROLE_NAME": role.name, "OWNER_NAME": role.owner, "CREATE_TIME": unit.now_seconds}
    unit.connection.execute(insert(ROLES), {"ROLE_ID": unit.ids(ids.Sequence.ROLE, 1)[0], **row})


def remove(unit: Unit, role_id: int, name: str) -> None:
    """Remove a role: nobody has it any more, and it has no other."""
    here = (ROLE_MAP.c.ROLE_ID == role_id) | _is(Principal(name, ROLE))
    unit.connection.execute(delete(ROLE_MAP).where(here))
    unit.connection.execute(delete(ROLES).where(ROLES.c.ROLE_ID == role_id))


def granted_to(connection: Connection, principals: Iterable[Principal]) -> list[RoleGrant]:
    """The roles that were granted to these principals, in the order in which that happened."""
    return _read(connection, or_(False, *map(_is, principals)))


def members(connection: Connection, role: str) -> list[RoleGrant]:
    """Whom a role was granted to, in the order in which that happened."""
    return _read(connection, ROLES.c.ROLE_NAME == role)


def grant(unit: Unit, role_id: int, granted: RoleGrant) -> None:
    """Give a role to a principal, now."""
    row = {
        "ROLE_GRANT_ID": unit.ids(ids.Sequence.ROLE_GRANT, 1)[0],
        "ROLE_ID": role_id,
        "ADD_TIME": unit.now_seconds,
        "GRANT_OPTION": int(granted.grant_option),
        "GRANTOR": granted.grantor,
        "GRANTOR_TYPE": granted.grantor_type,
        "PRINCIPAL_NAME": granted.principal.name,
        "PRINCIPAL_TYPE": granted.principal.type,
    }
    unit.connection.execute(insert(ROLE_MAP), row)


def revoke(unit: Unit, role_id: int, principal: Principal) -> None:
    """Take a role from a principal."""
    unit.connection.execute(delete(ROLE_MAP).where(ROLE_MAP.c.ROLE_ID == role_id, _is(principal)))


def take_grant_option(unit: Unit, role_id: int, principal: Principal) -> None:
    """Leave a role to a principal, but not to be granted on."""
    here = (ROLE_MAP.c.ROLE_ID == role_id) & _is(principal)
    unit.connection.execute(update(ROLE_MAP).where(here).values(GRANT_OPTION=0))


def _is(principal: Principal) -> Any:
    return (ROLE_MAP.c.PRINCIPAL_NAME == principal.name) & (ROLE_MAP.c.PRINCIPAL_TYPE == principal.type)


def _read(connection: Connection, condition: Any) -> list[RoleGrant]:
    query = select(ROLE_MAP, ROLES.c.ROLE_NAME).select_from(_GRANTED).where(condition)
    return [
        RoleGrant(
            role=row.ROLE_NAME,
            principal=Principal(row.PRINCIPAL_NAME, row.PRINCIPAL_TYPE),
            grantor=row.GRANTOR,
            grantor_type=row.GRANTOR_TYPE,
            grant_option=bool(row.GRANT_OPTION),
            granted_seconds=row.ADD_TIME,
        )
        for row in connection.execute(query.order_by(ROLE_MAP.c.ROLE_GRANT_ID))
    ]
