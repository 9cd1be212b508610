"""Roles: ROLES, and their grants in ROLE_MAP."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select, update

from hmstats.model.catalog.privileges import ROLE, Principal, Role, RoleGrant
from hmstats.store.schema import ROLE_MAP, ROLES
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit import ids
from hmstats.store.unit.unit import Unit

_GRANTED = ROLE_MAP.join(ROLES, ROLES.c.ROLE_ID == ROLE_MAP.c.ROLE_ID)


def names(connection: Connection) -> list[str]:
    """The names of all roles, sorted."""
    query = select(ROLES.c.ROLE_NAME).order_by(by_bytes(connection, ROLES.c.ROLE_NAME))
    return list(connection.execute(query).scalars())


def get_many(connection: Connection, wanted: Collection[str]) -> dict[str, Role]:
    """The named roles by name; missing ones are skipped."""
    rows = connection.execute(select(ROLES).where(one_of(connection, ROLES.c.ROLE_NAME, sorted(wanted))))
    return {row.ROLE_NAME: Role(row.ROLE_NAME, row.OWNER_NAME, row.CREATE_TIME) for row in rows}


def lock(unit: Unit, name: str) -> int | None:
    """The role's id, its row locked until the unit ends; None if it does not exist."""
    query = select(ROLES.c.ROLE_ID).where(ROLES.c.ROLE_NAME == name)
    return unit.connection.execute(query.with_for_update()).scalar_one_or_none()


def insert_one(unit: Unit, role: Role) -> None:
    """Insert a role, created at the unit's time."""
    row = {"ROLE_NAME": role.name, "OWNER_NAME": role.owner, "CREATE_TIME": unit.now_seconds}
    unit.connection.execute(insert(ROLES), {"ROLE_ID": unit.ids(ids.Sequence.ROLE, 1)[0], **row})


def remove(unit: Unit, role_id: int, name: str) -> None:
    """Remove a role, its grants to others and the roles granted to it."""
    here = (ROLE_MAP.c.ROLE_ID == role_id) | _is(Principal(name, ROLE))
    unit.connection.execute(delete(ROLE_MAP).where(here))
    unit.connection.execute(delete(ROLES).where(ROLES.c.ROLE_ID == role_id))


def granted_to(connection: Connection, principals: Iterable[Principal]) -> list[RoleGrant]:
    """The grants of roles to these principals, in the order of the grants."""
    return _read(connection, or_(False, *map(_is, principals)))


def members(connection: Connection, role: str) -> list[RoleGrant]:
    """The grants of a role to its members, in the order of the grants."""
    return _read(connection, ROLES.c.ROLE_NAME == role)


def grant(unit: Unit, role_id: int, granted: RoleGrant) -> None:
    """Insert the grant of a role, at the unit's time."""
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
    """Remove the grant of a role to a principal."""
    unit.connection.execute(delete(ROLE_MAP).where(ROLE_MAP.c.ROLE_ID == role_id, _is(principal)))


def revoke_grant_option(unit: Unit, role_id: int, principal: Principal) -> None:
    """Revoke the grant option of a principal's role, but not the role."""
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
