"""Calls about roles and privileges."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hmstats.errors import InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog.privileges import Role, RoleGrant
from hmstats.server.rpc.caller import Session
from hmstats.service.access.privileges import Privileges
from hmstats.service.access.roles import Roles
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.principals import principal_type
from hmstats.wire.privileges import (
    principal_from_thrift,
    privilege_to_thrift,
    privileges_from_thrift,
    role_grant_to_thrift,
    role_to_thrift,
    secured_from_thrift,
    set_to_thrift,
)


class AccessCalls:
    """Roles and privileges, which are stored and returned, but not enforced."""

    def __init__(self, roles: Roles, privileges: Privileges) -> None:
        self._roles = roles
        self._privileges = privileges

    def create_role(self, session: Session, role: Any) -> bool:
        """Make a role."""
        with _errors_of_hive():
            self._roles.create(Role(_text(role.roleName), role.ownerName))
        return True

    def drop_role(self, session: Session, role_name: str | None) -> bool:
        """Drop a role with its privileges; there may be none."""
        self._roles.drop(_text(role_name))
        return True

    def get_role_names(self, session: Session) -> list[str]:
        """The names of all roles."""
        return self._roles.names()

    def grant_role(
        self,
        session: Session,
        role_name: str | None,
        principal_name: str | None,
        principal_type: int | None,
        grantor: str | None,
        grantorType: int | None,
        grant_option: bool | None,
    ) -> bool:
        """Give a role to a user, a group or another role."""
        self._grant(role_name, principal_name, principal_type, grantor, grantorType, bool(grant_option))
        return True

    def revoke_role(
        self, session: Session, role_name: str | None, principal_name: str | None, principal_type: int | None
    ) -> bool:
        """Take a role from a user, a group or another role."""
        return self._revoke_role(role_name, principal_name, principal_type, only_grant_option=False)

    def grant_revoke_role(self, session: Session, request: Any) -> Any:
        """Give or take a role, or take the right to grant it on."""
        whom = (request.roleName, request.principalName, request.principalType)
        if request.requestType == api.GrantRevokeType.GRANT:
            self._grant(*whom, request.grantor, request.grantorType, bool(request.grantOption))
        elif request.requestType == api.GrantRevokeType.REVOKE:
            self._revoke_role(*whom, only_grant_option=bool(request.grantOption))
        else:
            raise MetaError(f"Unknown request type {request.requestType}")
        return api.GrantRevokeRoleResponse(success=True)

    def list_roles(self, session: Session, principal_name: str | None, principal_type: int | None) -> list[Any]:
        """The roles that a principal has by itself; every user has `public`."""
        principal = principal_from_thrift(principal_name, principal_type)
        return [role_to_thrift(each) for each in self._roles.of_principal(principal)]

    def get_role_grants_for_principal(self, session: Session, request: Any) -> Any:
        """The grants of the roles that a principal has by itself; every user has `public`."""
        principal = principal_from_thrift(request.principal_name, request.principal_type)
        found = [role_grant_to_thrift(each) for each in self._roles.grants_of_principal(principal)]
        return api.GetRoleGrantsForPrincipalResponse(principalGrants=found)

    def get_principals_in_role(self, session: Session, request: Any) -> Any:
        """The principals that a role was granted to."""
        found = [role_grant_to_thrift(each) for each in self._roles.members(_text(request.roleName))]
        return api.GetPrincipalsInRoleResponse(principalGrants=found)

    def grant_privileges(self, session: Session, privileges: Any) -> bool:
        """Grant privileges, all or none."""
        with _errors_of_hive():
            self._privileges.grant(privileges_from_thrift(privileges.privileges))
        return True

    def revoke_privileges(self, session: Session, privileges: Any) -> bool:
        """Take privileges, all or none."""
        return self._revoke_privileges(privileges, only_grant_option=False)

    def grant_revoke_privileges(self, session: Session, request: Any) -> Any:
        """Grant or take privileges, or take the right to grant them on."""
        if request.privileges is None:
            raise MetaError("privileges to grant or revoke were expected, found none")
        if request.requestType == api.GrantRevokeType.GRANT:
            self.grant_privileges(session, request.privileges)
        elif request.requestType == api.GrantRevokeType.REVOKE:
            self._revoke_privileges(request.privileges, only_grant_option=bool(request.revokeGrantOption))
        else:
            raise MetaError(f"Unknown request type {request.requestType}")
        return api.GrantRevokePrivilegeResponse(success=True)

    def refresh_privileges(self, session: Session, objToRefresh: Any, authorizer: str | None, grantRequest: Any) -> Any:
        """Replace an authorizer's grants on an object, or on all columns of a table, by those of the request."""
        on = secured_from_thrift(objToRefresh)
        if on is None:
            raise MetaError("an object whose privileges to refresh was expected, found none")
        bag = grantRequest.privileges
        with _errors_of_hive():
            self._privileges.refresh(on, authorizer, privileges_from_thrift(bag.privileges if bag else None))
        return api.GrantRevokePrivilegeResponse(success=True)

    def list_privileges(
        self, session: Session, principal_name: str | None, principal_type: int | None, hiveObject: Any
    ) -> list[Any]:
        """The privileges of a principal, or of all, on an object or on any."""
        principal = None if principal_name is None else principal_from_thrift(principal_name, principal_type)
        found = self._privileges.listed(principal, secured_from_thrift(hiveObject))
        return [privilege_to_thrift(each) for each in found]

    def get_privilege_set(
        self, session: Session, hiveObject: Any, user_name: str | None, group_names: list[str] | None
    ) -> Any:
        """What a user and groups may do with an object, by themselves and through their roles."""
        on = secured_from_thrift(hiveObject)
        if on is None:
            raise MetaError("an object that privileges are on was expected, found none")
        return set_to_thrift(self._privileges.of_user(on, user_name, group_names or []))

    def _grant(
        self, role: str | None, name: str | None, kind: int | None, grantor: str | None, by: int | None, option: bool
    ) -> None:
        with _errors_of_hive():
            grant = RoleGrant(
                role=_text(role),
                principal=principal_from_thrift(name, kind),
                grantor=grantor,
                grantor_type=principal_type(by),
                grant_option=option,
            )
            self._roles.grant(grant)

    def _revoke_role(self, role: str | None, name: str | None, kind: int | None, *, only_grant_option: bool) -> bool:
        with _errors_of_hive():
            principal = principal_from_thrift(name, kind)
            self._roles.revoke(_text(role), principal, only_grant_option=only_grant_option)
        return True

    def _revoke_privileges(self, privileges: Any, *, only_grant_option: bool) -> bool:
        with _errors_of_hive():
            self._privileges.revoke(privileges_from_thrift(privileges.privileges), only_grant_option=only_grant_option)
        return True


@contextmanager
def _errors_of_hive() -> Iterator[None]:
    """Raise errors as MetaException, the only one these calls declare, with the name of Hive's exception."""
    try:
        yield
    except (InvalidObject, NoSuchObject) as error:
        name = "InvalidObjectException" if isinstance(error, InvalidObject) else "NoSuchObjectException"
        raise MetaError(f"Got exception: org.apache.hadoop.hive.metastore.api.{name} {error}") from error


def _text(name: str | None) -> str:
    if name is None:
        raise MetaError("a role's name must be a text, found none")
    return name
