"""The rights of a user, and the access rules that give them."""

from dataclasses import dataclass

from hmstats.model.access.actions import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDecision:
    """Whether an action is allowed. `rule` is the place in the rule file of the rule that decides, from 1."""

    action: Action
    allowed: bool
    rule: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRule:
    """A rule of the rule file. Absent users, groups or objects stand for any."""

    number: int
    users: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    objects: tuple[str, ...] | None = None
    allow: tuple[Action, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rights of a user on an object; `object` is absent for the server.

    Without `enforced` the server has no access rules, so that all is allowed. `rules` are those about the object or
    something in it, in their order; absent when the caller is no admin of the server.
    """

    object: str | None = None
    user: str
    groups: tuple[str, ...]
    enforced: bool
    decisions: tuple[ActionDecision, ...]
    rules: tuple[AccessRule, ...] | None = None
