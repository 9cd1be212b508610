"""Access rules: the first that is about a user and an object decides; without one the action is denied.

An object is named by its parts: catalog, catalog and database, or catalog, database and table; the server itself has
none. A pattern covers the objects that it names and all that they contain: `hive.sales` covers the database and its
tables. A container is visible to those who have any right to something in it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

from hmstats.model.access.actions import Action
from hmstats.model.access.principal import Principal
from hmstats.model.catalog.wildcards import compile_pattern

ObjectName: TypeAlias = tuple[str, ...]
"""Catalog, database and table in lower case, as many as there are; empty for the server."""

THE_SERVER: ObjectName = ()
_SEEN_FROM_WITHIN = frozenset({Action.LIST, Action.READ})


class Identity(NamedTuple):
    """A user and its groups."""

    user: str
    groups: tuple[str, ...] = ()


ANONYMOUS = Identity("anonymous")
"""Every client that has not proven who it is."""


def identity_of(principal: Principal | None) -> Identity:
    """The user that rules are about: the principal that a client has proven to be, or nobody."""
    return ANONYMOUS if principal is None else Identity(principal.user, principal.groups)


class Decision(NamedTuple):
    """Whether an action is allowed, and the number of the rule that says so; None if no rule does."""

    allowed: bool
    rule: int | None


@dataclass(frozen=True)
class Pattern:
    """A pattern of objects: one to three parts with the wildcards * and ?, which stay within their part."""

    parts: tuple[str, ...]

    @cached_property
    def _expressions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(compile_pattern(part, any_text="*", any_character="?") for part in self.parts)

    def covers(self, name: ObjectName) -> bool:
        """Whether the object, or what it is in, matches the pattern."""
        return len(self.parts) <= len(name) and self._fits(name)

    def reaches_into(self, name: ObjectName) -> bool:
        """Whether the pattern may match something in the object, but not the object itself."""
        return len(self.parts) > len(name) and self._fits(name)

    def _fits(self, name: ObjectName) -> bool:
        return all(each.fullmatch(part) for each, part in zip(self._expressions, name, strict=False))


@dataclass(frozen=True)
class Rule:
    """The actions that a rule allows some users on some objects. None stands for any user, group or object.

    `users` and `groups` are patterns with the wildcards * and ?; if both are given, both must match.
    """

    number: int
    """The rule's place in its file, from 1."""
    users: tuple[str, ...] | None
    groups: tuple[str, ...] | None
    objects: tuple[Pattern, ...] | None
    allow: frozenset[Action]

    def is_about(self, who: Identity) -> bool:
        """Whether the rule is about a user."""
        return _match(self._users, (who.user,)) and _match(self._groups, who.groups)

    def covers(self, name: ObjectName) -> bool:
        """Whether the rule is about an object."""
        return self.objects is None or any(each.covers(name) for each in self.objects)

    def reaches_into(self, name: ObjectName) -> bool:
        """Whether the rule may be about something in an object."""
        return self.objects is not None and any(each.reaches_into(name) for each in self.objects)

    @cached_property
    def _users(self) -> tuple[re.Pattern[str], ...] | None:
        return _expressions(self.users)

    @cached_property
    def _groups(self) -> tuple[re.Pattern[str], ...] | None:
        return _expressions(self.groups)


@dataclass(frozen=True)
class Rules:
    """The rules of a file, in order, and the groups that the file puts users in."""

    rules: tuple[Rule, ...]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The groups of each user of the file, beside those that its authentication tells."""

    def with_groups(self, who: Identity) -> Identity:
        """A user with the groups of the file too."""
        groups = self.groups.get(who.user)
        return who if groups is None else Identity(who.user, tuple(dict.fromkeys(who.groups + groups)))

    def decide(self, who: Identity, action: Action, name: ObjectName) -> Decision:
        """Whether a user may do something to an object."""
        who = self.with_groups(who)
        for rule in self.rules:
            if not rule.is_about(who):
                continue
            if rule.covers(name):
                return Decision(action in rule.allow, rule.number)
            if name and action in _SEEN_FROM_WITHIN and rule.allow and rule.reaches_into(name):
                return Decision(allowed=True, rule=rule.number)
        return Decision(allowed=False, rule=None)

    def decide_whole(self, who: Identity, action: Action, name: ObjectName) -> Decision:
        """Whether a user may do something to an object and to everything that it contains.

        A rule that may deny it to something in the object denies it.
        """
        who = self.with_groups(who)
        for rule in self.rules:
            if not rule.is_about(who):
                continue
            if rule.covers(name):
                return Decision(action in rule.allow, rule.number)
            if action not in rule.allow and rule.reaches_into(name):
                return Decision(allowed=False, rule=rule.number)
        return Decision(allowed=False, rule=None)

    def decide_somewhere(self, who: Identity, action: Action) -> Decision:
        """Whether there is a rule that allows a user to do something to any object."""
        who = self.with_groups(who)
        allowing = (rule.number for rule in self.rules if action in rule.allow and rule.is_about(who))
        number = next(allowing, None)
        return Decision(number is not None, number)


def object_text(name: ObjectName) -> str:
    """An object as sentences name it."""
    return ".".join(name) or "the server"


def _expressions(patterns: Iterable[str] | None) -> tuple[re.Pattern[str], ...] | None:
    if patterns is None:
        return None
    return tuple(compile_pattern(each, any_text="*", any_character="?") for each in patterns)


def _match(expressions: tuple[re.Pattern[str], ...] | None, names: tuple[str, ...]) -> bool:
    return expressions is None or any(each.fullmatch(name) for each in expressions for name in names)
