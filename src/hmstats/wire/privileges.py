"""Roles and privileges: Thrift structs <-> model, both directions side by side."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hmstats.errors import InvalidObject
from hmstats.model.catalog.names import split_database
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.model.catalog.privileges import (
    GROUP,
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
from hmstats.wire.idl import hive_metastore
from hmstats.wire.principals import principal_number, principal_type

_TYPES = hive_metastore.HiveObjectType
_KINDS: dict[int, SecuredKind] = {
    _TYPES.GLOBAL: SecuredKind.GLOBAL,
    _TYPES.DATABASE: SecuredKind.DATABASE,
    _TYPES.TABLE: SecuredKind.TABLE,
    _TYPES.PARTITION: SecuredKind.PARTITION,
    _TYPES.COLUMN: SecuredKind.TABLE_COLUMN,
}
_NUMBERS = {kind: number for number, kind in _KINDS.items()} | {SecuredKind.PARTITION_COLUMN: _TYPES.COLUMN}
_OF_PARTITIONS = (SecuredKind.PARTITION, SecuredKind.PARTITION_COLUMN)
_OF_COLUMNS = (SecuredKind.TABLE_COLUMN, SecuredKind.PARTITION_COLUMN)
_SETS = {USER: "userPrivileges", GROUP: "groupPrivileges", ROLE: "rolePrivileges"}


def principal_from_thrift(name: str | None, number: int | None) -> Principal:
    """The principal of a name and a type. Raises InvalidObject when one is missing."""
    kind = principal_type(number)
    if name is None or kind is None:
        raise InvalidObject(f"a principal must have a name and a type, found {name} {number}")
    return Principal(name, kind)


def role_to_thrift(role: Role) -> Any:
    """The Role struct."""
    return hive_metastore.Role(roleName=role.name, createTime=role.created_seconds, ownerName=role.owner)


def role_grant_to_thrift(grant: RoleGrant) -> Any:
    """The RolePrincipalGrant struct."""
    return hive_metastore.RolePrincipalGrant(
        roleName=grant.role,
        principalName=grant.principal.name,
        principalType=principal_number(grant.principal.type),
        grantOption=grant.grant_option,
        grantTime=grant.granted_seconds,
        grantorName=grant.grantor,
        grantorPrincipalType=principal_number(grant.grantor_type),
    )


def secured_from_thrift(struct: Any) -> Secured | None:
    """The object in a HiveObjectRef struct; None where it names no kind. Raises InvalidObject for an unknown kind."""
    if struct is None or struct.objectType is None:
        return None
    kind = _KINDS.get(struct.objectType)
    if kind is None:
        raise InvalidObject(f"privileges are on databases, tables, partitions and columns, found {struct.objectType}")
    if kind is SecuredKind.TABLE_COLUMN and struct.partValues:
        kind = SecuredKind.PARTITION_COLUMN
    catalog, database = split_database(struct.dbName or "", struct.catName or DEFAULT_CATALOG)
    return Secured(
        kind,
        catalog.lower(),
        _lower(database) or None,
        None if kind in (SecuredKind.GLOBAL, SecuredKind.DATABASE) else _lower(struct.objectName),
        tuple(struct.partValues or ()) if kind in _OF_PARTITIONS else None,
        _lower(struct.columnName) if kind in _OF_COLUMNS else None,
    )


def secured_to_thrift(secured: Secured) -> Any:
    """The HiveObjectRef struct."""
    return hive_metastore.HiveObjectRef(
        objectType=_NUMBERS[secured.kind],
        dbName=secured.database,
        objectName=secured.table,
        partValues=None if secured.values is None else list(secured.values),
        columnName=secured.column,
        catName=secured.catalog or None,
    )


def privileges_from_thrift(structs: Sequence[Any] | None) -> list[Privilege]:
    """The privileges in HiveObjectPrivilege structs; a struct may list several, separated by commas.

    Raises InvalidObject where an object, a principal or a grant is missing.
    """
    return [each for struct in structs or () for each in _privileges(struct)]


def privilege_to_thrift(privilege: Privilege) -> Any:
    """The HiveObjectPrivilege struct."""
    return hive_metastore.HiveObjectPrivilege(
        hiveObject=secured_to_thrift(privilege.on),
        principalName=privilege.principal.name,
        principalType=principal_number(privilege.principal.type),
        grantInfo=_grant_to_thrift(privilege.grant),
        authorizer=privilege.authorizer,
    )


def set_from_thrift(struct: Any, on: Secured) -> list[Privilege]:
    """The privileges in a PrincipalPrivilegeSet struct, which may be null, on an object."""
    if struct is None:
        return []
    return [
        Privilege(on, Principal(name, kind), _grant_from_thrift(grant), SQL_AUTHORIZER)
        for kind, field in _SETS.items()
        for name, grants in (getattr(struct, field) or {}).items()
        for grant in grants
    ]


def set_to_thrift(grants: Mapping[Principal, Iterable[Grant]]) -> Any:
    """The PrincipalPrivilegeSet struct; the map of a type of principals without grants is null."""
    sets: dict[str, dict[str, list[Any]]] = {}
    for principal, listed in grants.items():
        sets.setdefault(_SETS[principal.type], {})[principal.name] = [_grant_to_thrift(each) for each in listed]
    return hive_metastore.PrincipalPrivilegeSet(**sets)


def _privileges(struct: Any) -> list[Privilege]:
    on = secured_from_thrift(struct.hiveObject)
    if on is None or struct.grantInfo is None:
        raise InvalidObject(f"a privilege must have an object and a grant, found {struct}")
    principal = principal_from_thrift(struct.principalName, struct.principalType)
    grant = _grant_from_thrift(struct.grantInfo)
    return [
        Privilege(on, principal, _grant_from_thrift(struct.grantInfo, name), struct.authorizer)
        for name in grant.privilege.split(",")
        if name
    ]


def _grant_from_thrift(struct: Any, privilege: str | None = None) -> Grant:
    return Grant(
        privilege=privilege or struct.privilege or "",
        grantor=struct.grantor,
        grantor_type=principal_type(struct.grantorType),
        grant_option=bool(struct.grantOption),
        created_seconds=struct.createTime or 0,
    )


def _grant_to_thrift(grant: Grant) -> Any:
    return hive_metastore.PrivilegeGrantInfo(
        privilege=grant.privilege,
        createTime=grant.created_seconds,
        grantor=grant.grantor,
        grantorType=principal_number(grant.grantor_type),
        grantOption=grant.grant_option,
    )


def _lower(text: str | None) -> str | None:
    return None if text is None else text.strip().lower()
