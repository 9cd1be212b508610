"""Privileges: granted, revoked, and listed by principal and object."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hmstats.errors import InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import PARTITION_PRIVILEGES, DatabaseName, Table, TableName, says_own_privileges
from hmstats.model.catalog.privileges import GROUP, ROLE, USER, Grant, Principal, Privilege, Secured, SecuredKind
from hmstats.service.access.roles import roles_in_hierarchy
from hmstats.service.lookups import missing_database, missing_table
from hmstats.store.access import privileges, roles
from hmstats.store.access.privileges import StoredPrivilege
from hmstats.store.catalog import databases
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_privileges, partitions
from hmstats.store.statistics import table_facts
from hmstats.store.unit.unit import Connection, Unit

_EVERY_KIND = tuple(SecuredKind)
_OF_PARTITIONS = (SecuredKind.PARTITION, SecuredKind.PARTITION_COLUMN)


@dataclass(frozen=True, slots=True)
class _Owner:
    """The object of a row of privileges: its id (None for global privileges) and, for a partition, its name."""

    id: int | None
    partition: str | None = None


class Privileges:
    """The privileges on every object."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def grant(self, new: Sequence[Privilege]) -> None:
        """Grant privileges, all or none. Skips privileges on a missing table or partition, as Hive does.

        Raises InvalidObject if a privilege was granted already, NoSuchObject if the role or the database does not
        exist.
        """
        self._store.write(lambda unit: _grant(unit, new))

    def revoke(self, old: Sequence[Privilege], *, only_grant_option: bool) -> None:
        """Revoke privileges, all or none; with `only_grant_option` revoke only the right to grant them on.

        Raises InvalidObject if a privilege was not granted, MetaError if its grant option is missing.
        """
        self._store.write(lambda unit: _revoke(unit, old, only_grant_option=only_grant_option))

    def refresh(self, on: Secured, authorizer: str | None, wanted: Sequence[Privilege]) -> None:
        """Replace an authorizer's grants on an object, or on all columns of a table, by the wanted ones.

        Raises MetaError if the object is no database, table or column, or if a single column is named.
        """
        if on.kind not in (SecuredKind.DATABASE, SecuredKind.TABLE, SecuredKind.TABLE_COLUMN):
            raise MetaError(f"Unexpected object type {on.kind.name}")
        if on.column is not None:
            raise MetaError(
                f"privileges on columns are refreshed for all columns of a table together, found column {on.column}"
            )

        def synchronise(unit: Unit) -> None:
            owner = _owner(unit.connection, on)
            stored = [] if owner is None else privileges.on_object(unit.connection, on.kind, owner.id)
            own = {_without_time(each.privilege): each.id for each in stored if each.privilege.authorizer == authorizer}
            desired = dict.fromkeys(_without_time(each) for each in wanted)
            privileges.remove(unit, on.kind, [own[each] for each in own.keys() - desired.keys()])
            _grant(unit, [each for each in desired if each not in own])

        self._store.write(synchronise)

    def listed(self, principal: Principal | None, on: Secured | None) -> list[Privilege]:
        """The privileges of a principal (None: of all) on an object; if `on` is None, on every object.

        If `on` names no database, the privileges of the principal on all objects of its kind.
        """
        kinds = _EVERY_KIND if on is None else (on.kind,)
        with self._store.read() as connection:
            if on is None or (on.database is None and on.kind is not SecuredKind.GLOBAL):
                by_kind = (
                    []
                    if principal is None
                    else [privileges.of_principal(connection, each, principal) for each in kinds]
                )
                return [each.privilege for stored in by_kind for each in stored]
            principals = None if principal is None else [principal]
            return [each.privilege for each in _on_object(connection, on, principals)]

    def of_user(self, on: Secured, user: str | None, groups: Sequence[str]) -> dict[Principal, list[Grant]]:
        """Grants of a user and groups on an object, by principal: their own and those of their roles.

        Global privileges are listed for the user and groups only, and only for principals that have any.
        """
        with self._store.read() as connection:
            principals = _principals(user, groups)
            if on.kind is not SecuredKind.GLOBAL:
                principals += _roles(connection, user, groups)
            stored = _on_object(connection, on, principals)
        grants: dict[Principal, list[Grant]] = {each: [] for each in principals}
        for each in stored:
            grants[each.privilege.principal].append(each.privilege.grant)
        if on.kind is SecuredKind.GLOBAL:
            return {principal: listed for principal, listed in grants.items() if listed}
        return grants

    def of_user_on_partitions(
        self, partition_ids: Sequence[int], user: str | None, groups: Sequence[str]
    ) -> dict[int, dict[Principal, list[Grant]]]:
        """Grants of a user and groups on partitions, by partition id and principal: their own and their roles'."""
        with self._store.read() as connection:
            principals = [*_principals(user, groups), *_roles(connection, user, groups)]
            stored = partition_privileges.read(connection, partition_ids, principals)
        grants: dict[int, dict[Principal, list[Grant]]] = {
            each: {principal: [] for principal in principals} for each in partition_ids
        }
        for each, granted in stored.items():
            for principal, grant in granted:
                grants[each][principal].append(grant)
        return grants


def are_on_partitions(table: Table) -> bool:
    """Whether a table's partitions have privileges of their own; calls that list the partitions then return them."""
    return says_own_privileges(table.parameters.get(PARTITION_PRIVILEGES))


def _principals(user: str | None, groups: Sequence[str]) -> list[Principal]:
    return [*([] if user is None else [Principal(user, USER)]), *(Principal(each, GROUP) for each in groups)]


def _roles(connection: Connection, user: str | None, groups: Sequence[str]) -> list[Principal]:
    return [Principal(each, ROLE) for each in sorted(roles_in_hierarchy(connection, user, groups))]


def _grant(unit: Unit, new: Sequence[Privilege]) -> None:
    _check_roles(unit.connection, new)
    for kind, owner, wanted in _by_owner(unit.connection, new):
        if owner is None:
            continue
        stored = [each.privilege for each in privileges.on_object(unit.connection, kind, owner.id)]
        taken = {_identity(each) for each in stored}
        for each in wanted:
            if _identity(each) in taken:
                raise InvalidObject(_already_granted(each, owner))
            taken.add(_identity(each))
        privileges.insert_many(unit, kind, owner.id, wanted)


def _revoke(unit: Unit, old: Sequence[Privilege], *, only_grant_option: bool) -> None:
    for kind, owner, wanted in _by_owner(unit.connection, old):
        stored = [] if owner is None else privileges.on_object(unit.connection, kind, owner.id)
        revoked = [_find_stored(stored, each, owner) for each in wanted]
        if not only_grant_option:
            privileges.remove(unit, kind, {each.id for each in revoked})
            continue
        for each in revoked:
            if not each.privilege.grant.grant_option:
                name, privilege = each.privilege.principal.name, each.privilege.grant.privilege
                raise MetaError(f"User {name} does not have grant option with privilege {privilege}")
        privileges.revoke_grant_option(unit, kind, {each.id for each in revoked})


def _find_stored(stored: Iterable[StoredPrivilege], wanted: Privilege, owner: _Owner | None) -> StoredPrivilege:
    """The stored privilege to revoke, regardless of its grantor. Raises InvalidObject if it was not granted."""
    for each in stored:
        privilege = each.privilege
        same = (privilege.principal, privilege.on.column) == (wanted.principal, wanted.on.column)
        if same and privilege.grant.privilege.lower() == wanted.grant.privilege.lower():
            return each
    raise InvalidObject(_not_granted(wanted, owner))


def _on_object(connection: Connection, on: Secured, principals: Sequence[Principal] | None) -> list[StoredPrivilege]:
    """The privileges on an object; if it is a column, on that column alone."""
    owner = _owner(connection, on)
    if on.kind in _OF_PARTITIONS and owner is None:
        _require_partitioned(connection, on)
    if owner is None:
        return []
    stored = privileges.on_object(connection, on.kind, owner.id, principals)
    return [each for each in stored if each.privilege.on.column == on.column]


def _by_owner(
    connection: Connection, privileges_given: Sequence[Privilege]
) -> Iterable[tuple[SecuredKind, _Owner | None, list[Privilege]]]:
    """Privileges grouped by object, with its kind and owner; all columns of a table are one object."""
    objects: dict[Secured, list[Privilege]] = {}
    for each in privileges_given:
        objects.setdefault(replace(each.on, column=None), []).append(each)
    return [(on.kind, _owner(connection, on, required=True), together) for on, together in objects.items()]


def _owner(connection: Connection, on: Secured, *, required: bool = False) -> _Owner | None:
    """The owner of an object's rows; None if it does not exist.

    Raises NoSuchObject if a database is missing and `required`.
    """
    if on.kind is SecuredKind.GLOBAL:
        return _Owner(None)
    if on.kind is SecuredKind.DATABASE:
        name = DatabaseName(on.catalog, on.database or "")
        database_id = databases.find_id(connection, name)
        if database_id is None and required:
            raise missing_database(name)
        return None if database_id is None else _Owner(database_id)
    target = table_facts.find(connection, _table(on))
    if target is None or on.kind not in _OF_PARTITIONS:
        return None if target is None else _Owner(target.id)
    partition = partition_name(target.keys, on.values or ())
    partition_id = partitions.find_ids(connection, target.id, [partition]).get(partition)
    return None if partition_id is None else _Owner(partition_id, partition)


def _require_partitioned(connection: Connection, on: Secured) -> None:
    if table_facts.find(connection, _table(on)) is None:
        raise missing_table(_table(on))


def _table(on: Secured) -> TableName:
    return TableName(on.catalog, on.database or "", on.table or "")


def _check_roles(connection: Connection, new: Sequence[Privilege]) -> None:
    """Raise NoSuchObject if a privilege names a role that does not exist."""
    names = {each.principal.name for each in new if each.principal.type == ROLE}
    existing = roles.get_many(connection, names) if names else {}
    for name in sorted(names - existing.keys()):
        raise NoSuchObject(f"Role {name} does not exist")


def _identity(privilege: Privilege) -> tuple[object, ...]:
    """The unique key of a grant. The grantor's name is compared without case."""
    grant = privilege.grant
    grantor = (grant.grantor or "").lower()
    return privilege.principal, privilege.on.column, grant.privilege, grantor, privilege.authorizer


def _without_time(privilege: Privilege) -> Privilege:
    return replace(privilege, grant=replace(privilege.grant, created_seconds=0))


def _already_granted(privilege: Privilege, owner: _Owner) -> str:
    on, grant = privilege.on, privilege.grant
    inside = ",".join(each for each in (on.database, on.table, owner.partition) if each)
    where = {
        SecuredKind.GLOBAL: "",
        SecuredKind.DATABASE: f" on database {on.database}",
        SecuredKind.TABLE: f" on table [{inside}]",
        SecuredKind.PARTITION: f" on partition [{inside}]",
        SecuredKind.TABLE_COLUMN: f" on column {on.column} [{inside}]",
        SecuredKind.PARTITION_COLUMN: f" on column {on.column} [{inside}]",
    }[on.kind]
    return f"{grant.privilege} is already granted{where} by {grant.grantor}"


def _not_granted(privilege: Privilege, owner: _Owner | None) -> str:
    on, name = privilege.on, privilege.grant.privilege
    if on.kind is SecuredKind.GLOBAL:
        return f"No user grant found for privileges {name}"
    if on.kind is SecuredKind.DATABASE:
        return f"No database grant found for privileges {name} on database {on.database}"
    partition = f", partition is {owner.partition if owner else on.values}" if on.kind in _OF_PARTITIONS else ""
    column = f", column name = {on.column}" if on.column else ""
    return f"No grant ({name}) found  on table {on.table}{partition}{column}, database is {on.database}"
