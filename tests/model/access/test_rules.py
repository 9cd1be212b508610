"""Which rule decides: first match, containers, whole objects."""

from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.access.actions import Action
from hmstats.model.access.rule_file import parse_rules
from hmstats.model.access.rules import ANONYMOUS, THE_SERVER, Decision, Identity, Pattern, Rule, Rules, object_text

ALICE, BOB = Identity("alice", ("staff",)), Identity("bob")
ORDERS = ("hive", "sales", "orders")
PARTS = st.sampled_from(("hive", "sales", "orders", "hr"))
NAMES = st.lists(PARTS, max_size=3).map(tuple)
ACTIONS = st.frozensets(st.sampled_from(Action))
PATTERNS = st.lists(PARTS | st.just("*") | st.just("?r"), min_size=1, max_size=3).map(
    lambda parts: Pattern(tuple(parts))
)
USERS = st.none() | st.lists(st.sampled_from(("alice", "b*", "anonymous")), min_size=1).map(tuple)
GROUPS = st.none() | st.just(("staff",))
OBJECTS = st.none() | st.lists(PATTERNS, min_size=1, max_size=2).map(tuple)
RULES = st.lists(st.tuples(USERS, GROUPS, OBJECTS, ACTIONS), max_size=4).map(
    lambda found: Rules(tuple(Rule(number, *each) for number, each in enumerate(found, 1)))
)
WHO = st.sampled_from((ALICE, BOB, ANONYMOUS))


def _rules(text: str) -> Rules:
    return parse_rules(text, "rules.toml")


def test_the_first_rule_that_matches_decides() -> None:
    rules = _rules(
        """
        [[rule]]
        users = ["alice"]
        objects = ["hive.sales.or*"]
        allow = ["list"]
        [[rule]]
        allow = ["list", "drop"]
        """
    )
    assert rules.decide(ALICE, Action.LIST, ORDERS) == Decision(True, 1)
    assert rules.decide(ALICE, Action.DROP, ORDERS) == Decision(False, 1)
    assert rules.decide(ALICE, Action.DROP, ("hive", "sales", "items")) == Decision(True, 2)
    assert rules.decide(BOB, Action.DROP, ORDERS) == Decision(True, 2)


def test_groups_of_the_file_add_to_those_that_a_proof_tells() -> None:
    rules = _rules(
        """
        [groups]
        jobs = ["alice", "bob"]
        [[rule]]
        groups = ["jobs"]
        objects = ["hive.sales"]
        allow = ["drop"]
        [[rule]]
        groups = ["staff"]
        allow = ["list"]
        """
    )
    carol, items = Identity("carol"), ("hive", "hr", "items")
    assert [rules.decide(who, Action.DROP, ORDERS).rule for who in (ALICE, BOB, carol)] == [1, 1, None]
    assert [rules.decide_whole(who, Action.DROP, ("hive", "sales")).rule for who in (ALICE, BOB, carol)] == [1, 1, None]
    assert [rules.decide_somewhere(who, Action.DROP).allowed for who in (ALICE, BOB, carol)] == [True, True, False]
    assert [rules.decide(who, Action.LIST, items).rule for who in (ALICE, BOB, carol)] == [2, None, None]


def test_nothing_is_allowed_without_a_rule() -> None:
    assert Rules(()).decide(ALICE, Action.LIST, ORDERS) == Decision(False, None)


def test_users_and_groups_must_both_match() -> None:
    rules = _rules('[[rule]]\nusers = ["a*"]\ngroups = ["staff"]\nallow = ["read"]')
    assert rules.decide(ALICE, Action.READ, ORDERS).allowed
    assert not rules.decide(Identity("alice"), Action.READ, ORDERS).allowed
    assert not rules.decide(Identity("bob", ("staff",)), Action.READ, ORDERS).allowed


def test_a_pattern_covers_what_an_object_contains_and_never_the_server() -> None:
    rules = _rules('[[rule]]\nobjects = ["*"]\nallow = ["admin"]')
    assert rules.decide(ALICE, Action.ADMIN, ("hive",)).allowed
    assert rules.decide(ALICE, Action.ADMIN, ORDERS).allowed
    assert not rules.decide(ALICE, Action.ADMIN, THE_SERVER).allowed


def test_a_wildcard_stays_in_its_part() -> None:
    rules = _rules('[[rule]]\nobjects = ["hive.*.orders"]\nallow = ["read"]')
    assert rules.decide(ALICE, Action.READ, ORDERS).allowed
    assert not rules.decide(ALICE, Action.READ, ("hive", "sales", "x.orders")).allowed


def test_a_container_is_seen_by_those_with_a_right_to_something_in_it() -> None:
    rules = _rules('[[rule]]\nobjects = ["hive.sales.orders"]\nallow = ["read_statistics"]')
    for name in (("hive",), ("hive", "sales")):
        assert rules.decide(ALICE, Action.LIST, name).allowed
        assert rules.decide(ALICE, Action.READ, name).allowed
        assert not rules.decide(ALICE, Action.DROP, name).allowed
    assert not rules.decide(ALICE, Action.LIST, ("hive", "hr")).allowed
    assert not rules.decide(ALICE, Action.LIST, ("hive", "sales", "items")).allowed


def test_a_denied_part_keeps_the_whole() -> None:
    rules = _rules('[[rule]]\nobjects = ["hive.sales.secret"]\nallow = []\n[[rule]]\nallow = ["drop"]')
    assert rules.decide(ALICE, Action.DROP, ("hive", "sales")) == Decision(True, 2)
    assert rules.decide_whole(ALICE, Action.DROP, ("hive", "sales")) == Decision(False, 1)
    assert rules.decide_whole(ALICE, Action.DROP, ("hive", "hr")) == Decision(True, 2)


def test_somewhere_needs_a_rule_that_allows_it() -> None:
    rules = _rules('[[rule]]\nusers = ["alice"]\nobjects = ["hive.sales"]\nallow = ["lock"]')
    assert rules.decide_somewhere(ALICE, Action.LOCK) == Decision(True, 1)
    assert rules.decide_somewhere(BOB, Action.LOCK) == Decision(False, None)


def test_names_are_said() -> None:
    assert (object_text(ORDERS), object_text(THE_SERVER)) == ("hive.sales.orders", "the server")


@given(RULES, WHO, st.sampled_from(Action), NAMES)
def test_the_whole_is_never_allowed_more_than_a_part(
    rules: Rules, who: Identity, action: Action, name: tuple[str, ...]
) -> None:
    if rules.decide_whole(who, action, name).allowed:
        assert rules.decide(who, action, name).allowed
        for part in ("hive", "sales", "orders", "hr", "other"):
            if len(name) < 3 and name:
                assert rules.decide(who, action, (*name, part)).allowed


@given(RULES, WHO, st.sampled_from(Action), NAMES)
def test_a_decision_names_a_rule_about_the_user(
    rules: Rules, who: Identity, action: Action, name: tuple[str, ...]
) -> None:
    decision = rules.decide(who, action, name)
    if decision.rule is None:
        assert not decision.allowed
        assert not any(rule.is_about(who) and rule.covers(name) for rule in rules.rules)
    else:
        rule = rules.rules[decision.rule - 1]
        assert rule.is_about(who)
        assert rule.covers(name) or (decision.allowed and rule.reaches_into(name))


@given(RULES, WHO, NAMES.filter(lambda name: 0 < len(name) < 3), PARTS)
def test_what_is_listed_is_in_a_listed_container_or_hidden_by_a_rule_of_its_own(
    rules: Rules, who: Identity, name: tuple[str, ...], part: str
) -> None:
    inner, outer = rules.decide(who, Action.LIST, (*name, part)), rules.decide(who, Action.LIST, name)
    if inner.allowed and not outer.allowed:  # then a rule about the container itself, which is later or denies, decides
        assert outer.rule is not None
