"""Every call that is served has a rule, and no rule is about a call that the API does not have."""

from tests.evil.calls import subjects

from hmstats.server.access.call_rules import _ADMIN, _OPEN, CALL_RULES
from hmstats.server.calls.call_kinds import CHANGES
from hmstats.wire.idl import methods

GROUPS = ("_READS", "_LISTS", "_STATISTICS", "_CREATES", "_ALTERS", "_DROPS", "_LOCKS")


def test_every_call_that_is_served_has_a_rule() -> None:
    classes = list(subjects())
    served = {name for name in methods() if any(hasattr(each, name) for each in classes)}
    assert len(served) > 200
    assert set(CALL_RULES) == served


def test_a_call_without_needs_or_filter_is_open_to_everybody_by_name() -> None:
    assert {name for name, rule in CALL_RULES.items() if rule.needs is None and rule.shown is None} == set(
        _OPEN.split()
    )


def test_no_call_has_two_rules() -> None:
    from hmstats.server.access import call_rules

    number = sum(len(getattr(call_rules, each)) for each in GROUPS) + len(_ADMIN.split()) + len(_OPEN.split())
    assert number == len(CALL_RULES)


def test_a_call_that_changes_something_has_needs() -> None:
    tokens = {"get_delegation_token", "renew_delegation_token", "cancel_delegation_token"}
    assert {name for name in CALL_RULES if name in CHANGES and CALL_RULES[name].needs is None} == tokens
