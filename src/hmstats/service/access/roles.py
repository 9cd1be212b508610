"""Roles: created, granted, revoked and dropped. `admin` and `public` always exist; every user has `public`."""

from collections.abc import Iterable

from hmstats.errors import InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog.privileges import (
    ADMIN_ROLE,
    GROUP,
    PUBLIC_ROLE,
    ROLE,
    SQL_AUTHORIZER,
    USER,
    Grant,
    Principal,
    Privilege,
    Role,
    RoleGrant,
    Secured,
    SecuredKind,
)
from hmstats.store.access import privileges, roles
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Connection, Unit


class Roles:
    """The roles and their members."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def ensure_defaults(self) -> None:
        """Create `admin`, with all global privileges, and `public` unless they exist."""
        with self._store.read() as connection:
            if len(roles.get_many(connection, (ADMIN_ROLE, PUBLIC_ROLE))) == 2:
                return
        admin = Principal(ADMIN_ROLE, ROLE)
        every = Grant(privilege="All", grantor=ADMIN_ROLE, grantor_type=ROLE, grant_option=True)
        all_privileges = Privilege(Secured(SecuredKind.GLOBAL, ""), admin, every, SQL_AUTHORIZER)

        def insert(unit: Unit) -> None:
            for name in (ADMIN_ROLE, PUBLIC_ROLE):
                if roles.lock(unit, name) is None:
                    roles.insert_one(unit, Role(name, owner=name))
            if not privileges.on_object(unit.connection, SecuredKind.GLOBAL, None, [admin]):
                privileges.insert_many(unit, SecuredKind.GLOBAL, None, [all_privileges])

        self._store.write(insert)

    def names(self) -> list[str]:
        """The names of all roles, sorted."""
        with self._store.read() as connection:
            return roles.names(connection)

    def create(self, role: Role) -> None:
        """Create a role. Raises InvalidObject if its name is taken, MetaError for `public`."""
        if role.name == PUBLIC_ROLE:
            raise MetaError("public role implicitly exists. It can't be created.")

        def insert(unit: Unit) -> None:
            if roles.lock(unit, role.name) is not None:
                raise InvalidObject(f"Role {role.name} already exists.")
            roles.insert_one(unit, role)

        self._store.write(insert)

    def drop(self, name: str) -> None:
        """Drop a role with its privileges, if it exists. Raises MetaError for `admin` and `public`."""
        if name in (ADMIN_ROLE, PUBLIC_ROLE):
            raise MetaError("public,admin roles can't be dropped.")

        def delete(unit: Unit) -> None:
            role_id = roles.lock(unit, name)
            if role_id is not None:
                roles.remove(unit, role_id, name)
                privileges.remove_of_role(unit, name)

        self._store.write(delete)

    def grant(self, grant: RoleGrant) -> None:
        """Grant a role to a principal.

        Raises NoSuchObject if the role does not exist, InvalidObject if the principal has it, MetaError for `public`
        and if the grant would make a cycle of roles.
        """
        if grant.role == PUBLIC_ROLE:
            raise MetaError("No user can be added to public. Since all users implicitly belong to public role.")
        principal = grant.principal

        def insert(unit: Unit) -> None:
            role_id = _lock(unit, grant.role)
            if principal.type == ROLE and principal.name in _with_ancestors(unit.connection, [grant.role]):
                raise MetaError(
                    f"Cannot grant role {principal.name} to {grant.role} as {grant.role} already belongs to the role "
                    f"{principal.name}. (no cycles allowed)"
                )
            if any(each.role == grant.role for each in roles.granted_to(unit.connection, [principal])):
                raise InvalidObject(f"Principal {principal.name} already has the role {grant.role}")
            if principal.type == ROLE and not roles.get_many(unit.connection, [principal.name]):
                raise NoSuchObject(f"Role {principal.name} does not exist")
            roles.grant(unit, role_id, grant)

        self._store.write(insert)

    def revoke(self, name: str, principal: Principal, *, only_grant_option: bool) -> None:
        """Revoke a role from a principal; with `only_grant_option` revoke only the right to grant it on.

        Raises NoSuchObject if the role does not exist, MetaError for `public` and if the principal does not have the
        role or its grant option.
        """
        if name == PUBLIC_ROLE:
            raise MetaError("public role can't be revoked.")

        def update(unit: Unit) -> None:
            role_id = _lock(unit, name)
            held = [each for each in roles.granted_to(unit.connection, [principal]) if each.role == name]
            if not held:
                raise MetaError(f"{principal.name} does not have the role {name}")
            if not only_grant_option:
                roles.revoke(unit, role_id, principal)
                return
            if not any(each.grant_option for each in held):
                raise MetaError(f"User {principal.name} does not have grant option with role {name}")
            roles.revoke_grant_option(unit, role_id, principal)

        self._store.write(update)

    def of_principal(self, principal: Principal) -> list[Role]:
        """The roles granted to a principal directly; a user's list ends with `public`."""
        with self._store.read() as connection:
            granted = roles.granted_to(connection, [principal])
            by_name = roles.get_many(connection, {each.role for each in granted})
        own = [by_name[each.role] for each in granted]
        return [*own, Role(PUBLIC_ROLE, owner=PUBLIC_ROLE)] if principal.type == USER else own

    def grants_of_principal(self, principal: Principal) -> list[RoleGrant]:
        """The grants of roles to a principal directly; a user's list ends with `public`."""
        with self._store.read() as connection:
            granted = roles.granted_to(connection, [principal])
        return [*granted, RoleGrant(role=PUBLIC_ROLE, principal=principal)] if principal.type == USER else granted

    def members(self, name: str) -> list[RoleGrant]:
        """The grants of a role, one for each member."""
        with self._store.read() as connection:
            return roles.members(connection, name)


def roles_in_hierarchy(connection: Connection, user: str | None, groups: Iterable[str]) -> set[str]:
    """The names of the roles that a user and groups have, directly and through other roles."""
    principals = [Principal(each, GROUP) for each in groups]
    if user is not None:
        principals.append(Principal(user, USER))
    direct = {each.role for each in roles.granted_to(connection, principals)} if principals else set()
    public = set() if user is None else {PUBLIC_ROLE}
    return _with_ancestors(connection, direct | public)


def _with_ancestors(connection: Connection, names: Iterable[str]) -> set[str]:
    """The names of roles with all roles granted to them, transitively; one statement for each level."""
    names_found: set[str] = set()
    level = set(names)
    while level:
        names_found |= level
        level = {
            each.role for each in roles.granted_to(connection, [Principal(each, ROLE) for each in level])
        } - names_found
    return names_found


def _lock(unit: Unit, name: str) -> int:
    role_id = roles.lock(unit, name)
    if role_id is None:
        raise NoSuchObject(f"{name} role can not be found.")
    return role_id
