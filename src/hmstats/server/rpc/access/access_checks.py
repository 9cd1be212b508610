"""A call that tells what a user may do by the access rules (thrift/hmstats.thrift)."""

from collections.abc import Callable
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.access.access import access_of
from hmstats.model.access.actions import Action
from hmstats.model.access.rules import THE_SERVER, Identity, ObjectName, Rules, identity_of
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.wire.access import access_to_thrift


class AccessCheckCalls:
    """Tells decisions of the rules that are in force; without rules, that everybody may do everything."""

    def __init__(self, rules_in_force: Callable[[], Rules | None]) -> None:
        self._rules_in_force = rules_in_force

    def check_access(self, session: Session, request: Any) -> Any:
        """What a user may do with a catalog, a database, a table or the server, and by which rules."""
        rules = self._rules_in_force()
        caller = identity_of(session.principal)
        may_see_rules = rules is None or rules.decide(caller, Action.ADMIN, THE_SERVER).allowed
        who = _user(request, caller)
        return access_to_thrift(access_of(rules, who, _object(request), with_rules=may_see_rules))


def _user(request: Any, caller: Identity) -> Identity:
    """The user that the request is about; the caller with its groups when it names itself without any.

    Raises InvalidInput for groups without a user.
    """
    if request.userName == caller.user and not request.groupNames:
        return caller
    if request.userName is not None:
        return Identity(request.userName, tuple(request.groupNames or ()))
    if request.groupNames:
        raise InvalidInput(f"groups {', '.join(request.groupNames)} must come with the name of a user, found none")
    return caller


def _object(request: Any) -> ObjectName:
    if request.tblName is not None:
        table = subject.table(request.dbName, request.tblName, request.catName)
        return table.catalog, table.database, table.table
    if request.dbName is not None:
        database = subject.database(request.dbName, request.catName)
        return database.catalog, database.database
    return THE_SERVER if request.catName is None else (request.catName.lower(),)
