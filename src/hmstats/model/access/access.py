"""The rights of a user on an object, and the rules about the object."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hmstats.model.access.actions import Action
from hmstats.model.access.rules import Decision, Identity, ObjectName, Rule, Rules


@dataclass(frozen=True)
class Access:
    """The decision about each action of a user on an object.

    `who` has the groups of the rule file too. Without `enforced` the server has no rules, so that all is allowed.
    `rules` are those about the object or something in it, in order; None when the reader may not see them.
    """

    who: Identity
    enforced: bool
    decisions: Mapping[Action, Decision]
    rules: Sequence[Rule] | None = None


def access_of(rules: Rules | None, who: Identity, name: ObjectName, *, with_rules: bool) -> Access:
    """The rights of a user on an object by these rules; all rights if there are none."""
    if rules is None:
        free = Decision(allowed=True, rule=None)
        return Access(who, enforced=False, decisions=dict.fromkeys(Action, free), rules=() if with_rules else None)
    who = rules.with_groups(who)
    decisions = {action: rules.decide(who, action, name) for action in Action}
    about = tuple(each for each in rules.rules if each.covers(name) or each.reaches_into(name))
    return Access(who, enforced=True, decisions=decisions, rules=about if with_rules else None)
