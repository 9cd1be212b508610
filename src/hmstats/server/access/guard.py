"""Decides whether a call may run, by the rules in force.

An object that may not be listed is answered for as missing, whether it exists or not: only names are checked. If an
object may be listed but the action is not allowed, the refusal names the user, the action, the object and the rule.

A cached answer carries the needs of its arguments, so that it can be checked for each caller without decoding a
request. Decisions are kept for each user with its groups until the rules change.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

from hmstats.errors import AccessDenied, HmstatsError, MetastoreError, NoSuchObject
from hmstats.model.access.actions import Action
from hmstats.model.access.principal import Principal
from hmstats.model.access.rules import THE_SERVER, Decision, Identity, ObjectName, Rule, Rules, identity_of, object_text
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.server.access.call_rules import CALL_RULES, NOT_NAMED, CallRule
from hmstats.server.access.needs import Extent, Need, table_of
from hmstats.server.messages.request import Request, Verdict
from hmstats.server.rpc.caller import Session
from hmstats.service.lookups import missing_database, missing_table
from hmstats.wire.statistics import statistics_requests

_MOST_USERS = 200
_MOST_DECISIONS = 2_000
"""The most decisions that are kept for a user; beyond that, all are dropped and made again."""
_MOST_CHARACTERS = 256
"""The most characters of a part of a stored name. Clients choose names, and longer ones would make checks costly."""
_MOST_OBJECTS = 10_000
"""The most objects of a call that are recorded."""

_QUICK = {
    "get_partitions_statistics_req": statistics_requests.of_partitions,
    "get_table_statistics_req": statistics_requests.of_table,
}
"""Calls whose table is read from the bytes, by the same functions as for their fast answers."""
_NO_RULE = 0
"""The number of a rule that is in no file."""
_ANY_RIGHT = (Need(Action.LIST, THE_SERVER, Extent.SOMEWHERE),)
_TABLE_PARTS = 3
_DATABASE_PARTS = 2


class RuleSource(Protocol):
    """The rules that are in force. A refresh replaces the object if the rules have changed."""

    rules: Rules

    def refresh(self) -> None:
        """Read the rules again if they have changed."""


class Everybody:
    """Rules that allow everything to everybody, for a guard that only finds the objects of calls."""

    def __init__(self) -> None:
        self.rules = Rules((Rule(_NO_RULE, None, None, None, frozenset(Action)),))

    def refresh(self) -> None:
        """No effect: these rules never change."""


class Rights:
    """The rights of a user by some rules; keeps decisions."""

    def __init__(self, rules: Rules, who: Identity) -> None:
        self.rules = rules
        self.who = who
        self._decided: dict[Need, Decision] = {}

    def decision(self, need: Need) -> Decision:
        """The decision about a need."""
        decision = self._decided.get(need)
        if decision is None:
            if len(self._decided) >= _MOST_DECISIONS:
                self._decided.clear()
            short = need._replace(name=_shorten(need.name))
            decision = self._decided[short] = self._decide(short)
        return decision

    def sees(self, action: Action, name: ObjectName) -> bool:
        """Whether the user may take an action on an object."""
        return self.decision(Need(action, name)).allowed

    def _decide(self, need: Need) -> Decision:
        if need.extent is Extent.SOMEWHERE:
            return self.rules.decide_somewhere(self.who, need.action)
        if need.extent is Extent.WHOLE:
            return self.rules.decide_whole(self.who, need.action, need.name)
        return self.rules.decide(self.who, need.action, need.name)


class _SessionRights(NamedTuple):
    """The rights of a session, and the principal to whom they belong."""

    principal: Principal | None
    rights: Rights


class Permit:
    """A call that may run. If it is not `whole`, its answer is for this user only, and is not cached.

    If the answer may be cached, `run` adds the needs of objects that only the answer names.
    """

    def __init__(
        self, needs: Sequence[Need], rights: Rights, rule: CallRule, *, whole: bool, may_be_cached: bool
    ) -> None:
        self.needs = list(needs)
        self.whole = whole
        self._rights = rights
        self._rule = rule
        self._sees = self._sees_and_needs if may_be_cached else rights.sees

    def run(self, call: Callable[..., Any], session: Session, arguments: dict[str, Any]) -> Any:
        """The answer of the call, without what the user may not see."""
        if self._rule.shown is None:
            return call(session, **arguments)
        return self._rule.shown(lambda: call(session, **arguments), arguments, self._sees)

    def _sees_and_needs(self, action: Action, name: ObjectName) -> bool:
        allowed = self._rights.sees(action, name)
        self.whole &= allowed
        self.needs.append(Need(action, name))
        return allowed


class AccessGuard:
    """Asks the rules about each call. Thread-safe."""

    def __init__(self, source: RuleSource) -> None:
        self._source = source
        self._rights: dict[Identity, Rights] = {}

    def permit(self, request: Request, session: Session, arguments: dict[str, Any]) -> Permit:
        """The permit of a call with these arguments.

        Raises AccessDenied, or NoSuchObject for an object that may not be listed; MetaError if no object is named.
        """
        rights = self._rights_of(session)
        rule = CALL_RULES.get(request.head.name, NOT_NAMED)
        session.statistics_only = False
        needs: Sequence[Need] = () if rule.needs is None else tuple(rule.needs(arguments, rights.who)) or _ANY_RIGHT
        whole = True
        for need in needs:
            whole &= self._meet(need, rights, session, request, rule)
        request.verdict = self.verdict(session, needs)
        return Permit(needs, rights, rule, whole=whole, may_be_cached=request.cache_key is not None)

    def quick_needs(self, request: Request, session: Session) -> Sequence[Need] | None:
        """The needs of a plain request for statistics, if they are met; None leaves the decision to `permit`."""
        read = _QUICK.get(request.head.name)
        parsed = read(request.message, request.head.body_at) if read else None
        if parsed is None:
            return None
        try:
            needs = (Need(Action.READ_STATISTICS, table_of(parsed.database, parsed.table, parsed.catalog)),)
        except HmstatsError:
            return None
        if not self.meets(session, needs):
            return None
        request.verdict = self.verdict(session, needs)
        return needs

    def meets(self, session: Session, needs: Sequence[Need] | None) -> bool:
        """Whether a user may have a whole answer with these needs."""
        if needs is None:
            return False
        rights = self._rights_of(session)
        for need in needs:  # noqa: SIM110 - `all` would make a generator for each cached answer
            if not rights.decision(need).allowed:
                return False
        return True

    def require(self, request: Request, session: Session, action: Action, name: ObjectName) -> None:
        """Raise AccessDenied or NoSuchObject unless a user may take an action on an object."""
        rights, need = self._rights_of(session), Need(action, name)
        self._meet(need, rights, session, request, NOT_NAMED)
        request.verdict = self.verdict(session, (need,))

    def verdict(self, session: Session, needs: Sequence[Need]) -> Verdict:
        """The verdict about a call whose needs are met."""
        rights = self._rights_of(session)
        rule = rights.decision(needs[0]).rule if needs else None
        return Verdict(_objects(needs), allowed=True, rule=rule or None)

    def _rights_of(self, session: Session) -> Rights:
        rules, cached = self._source.rules, session.rights
        if cached is not None and cached.rights.rules is rules and cached.principal is session.principal:
            rights: Rights = cached.rights
            return rights
        who = identity_of(session.principal)
        user_rights = self._rights.get(who)
        if user_rights is None or user_rights.rules is not rules:
            if len(self._rights) >= _MOST_USERS:
                self._rights.clear()
            user_rights = self._rights[who] = Rights(rules, who)
        session.rights = _SessionRights(session.principal, user_rights)
        return user_rights

    def _meet(self, need: Need, rights: Rights, session: Session, request: Request, rule: CallRule) -> bool:
        """Whether a need is met as a whole; raises if the call may not run."""
        decision = rights.decision(need)
        if decision.allowed:
            return True
        if need.extent is Extent.IN_PART:
            return False
        if need.extent is Extent.IF_LISTED and not rights.sees(Action.LIST, need.name):
            return False
        if need.extent is Extent.OR_STATISTICS and rights.sees(Action.WRITE_STATISTICS, need.name):
            session.statistics_only = True
            return False
        request.verdict = Verdict(_objects((need,)), allowed=False, rule=decision.rule)
        raise _refusal(need, decision, rights, rule)


def _refusal(need: Need, decision: Decision, rights: Rights, rule: CallRule) -> MetastoreError:
    """The error of a need that is not met. A user who may list an object may learn what can be created in it."""
    place = need.name[:-1] if need.action is Action.CREATE else need.name
    if place and not rights.sees(Action.LIST, place):
        return _missing(place, rule)
    object_named = "anything" if need.extent is Extent.SOMEWHERE else object_text(need.name)
    reason = "no rule allows it" if decision.rule is None else f"rule {decision.rule} does not allow it"
    return AccessDenied(f"{rights.who.user} may not {need.action} {object_named}: {reason}")


def _missing(name: ObjectName, rule: CallRule) -> MetastoreError:
    if rule.missing is not None:
        return NoSuchObject(rule.missing.format(object_text(name)))
    if len(name) == _TABLE_PARTS:
        return missing_table(TableName(*name))
    if len(name) == _DATABASE_PARTS:
        return missing_database(DatabaseName(*name))
    return NoSuchObject(f"No catalog {object_text(name)}")


def _objects(needs: Iterable[Need]) -> tuple[str, ...]:
    names = dict.fromkeys(need.name for need in needs)
    return tuple(object_text(_shorten(each)) for each in islice(names, _MOST_OBJECTS))


def _shorten(name: ObjectName) -> ObjectName:
    """A name whose parts are truncated to the length of stored ones, with a sign at the place."""
    return tuple(each if len(each) <= _MOST_CHARACTERS else f"{each[:_MOST_CHARACTERS]}…" for each in name)
