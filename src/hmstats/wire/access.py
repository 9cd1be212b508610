"""The rights of a user on an object: Thrift structs <-> model, both directions side by side."""

from typing import Any

from hmstats.model.access.access import Access
from hmstats.model.access.actions import Action
from hmstats.model.access.rules import Decision, Identity, Pattern, Rule
from hmstats.wire.idl import extension


def access_to_thrift(access: Access) -> Any:
    """The struct of what a user may do."""
    return extension.CheckAccessResult(
        userName=access.who.user,
        groupNames=list(access.who.groups),
        enforced=access.enforced,
        decisions=[
            extension.AccessDecision(action=action.value, allowed=decision.allowed, rule=decision.rule)
            for action, decision in access.decisions.items()
        ],
        rules=None if access.rules is None else [_rule_to_thrift(each) for each in access.rules],
    )


def access_from_thrift(struct: Any) -> Access:
    """The rights of a user, from a struct. Actions of a later version are left out."""
    known = {action.value for action in Action}
    return Access(
        Identity(struct.userName, tuple(struct.groupNames)),
        struct.enforced,
        {Action(each.action): Decision(each.allowed, each.rule) for each in struct.decisions if each.action in known},
        None if struct.rules is None else tuple(map(_rule_from_thrift, struct.rules)),
    )


def _rule_to_thrift(rule: Rule) -> Any:
    return extension.AccessRule(
        number=rule.number,
        userNames=None if rule.users is None else list(rule.users),
        groupNames=None if rule.groups is None else list(rule.groups),
        objects=None if rule.objects is None else [".".join(each.parts) for each in rule.objects],
        actions=[action.value for action in Action if action in rule.allow],
    )


def _rule_from_thrift(struct: Any) -> Rule:
    known = {action.value for action in Action}
    return Rule(
        struct.number,
        None if struct.userNames is None else tuple(struct.userNames),
        None if struct.groupNames is None else tuple(struct.groupNames),
        None if struct.objects is None else tuple(Pattern(tuple(each.split("."))) for each in struct.objects),
        frozenset(Action(each) for each in struct.actions if each in known),
    )
