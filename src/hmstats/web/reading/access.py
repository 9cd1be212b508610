"""The rights of a user on an object by the access rules of the server."""

from hmstats.client import Metastore
from hmstats.errors import StatementError
from hmstats.model.access.actions import Action
from hmstats.model.access.rules import Rule
from hmstats.web.answers.access import Access, AccessRule, ActionDecision

_MOST_PARTS = 3


def access(service: Metastore, text: str | None, *, user: str | None = None, groups: str | None = None) -> Access:
    """The rights of a user on an object named as `CATALOG[.DB[.TABLE]]`, or on the server.

    The user is the caller, unless another is named; `groups` are separated by commas. Raises StatementError for a
    name of other parts, UnknownCall when the metastore is not hmstats.
    """
    parts: list[str | None] = [] if text is None else [*text.split(".")]
    if len(parts) > _MOST_PARTS or not all(parts):
        raise StatementError(f"an object must be CATALOG, CATALOG.DB or CATALOG.DB.TABLE, found {text!r}")
    catalog, database, table = parts + [None] * (_MOST_PARTS - len(parts))
    named = [each.strip() for each in (groups or "").split(",") if each.strip()]
    found = service.access.check(database, table, catalog=catalog, user=user, groups=named)
    return Access(
        object=None if text is None else text.lower(),
        user=found.who.user,
        groups=found.who.groups,
        enforced=found.enforced,
        decisions=tuple(
            ActionDecision(action=action, allowed=decision.allowed, rule=decision.rule)
            for action, decision in found.decisions.items()
        ),
        rules=None if found.rules is None else tuple(map(_rule, found.rules)),
    )


def _rule(rule: Rule) -> AccessRule:
    return AccessRule(
        number=rule.number,
        users=rule.users,
        groups=rule.groups,
        objects=None if rule.objects is None else tuple(".".join(each.parts) for each in rule.objects),
        allow=tuple(action for action in Action if action in rule.allow),
    )
