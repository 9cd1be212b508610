"""A rule file is read whole, or refused with its place and the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import SettingsError
from hmstats.model.access.actions import Action
from hmstats.model.access.rule_file import parse_object, parse_rules
from hmstats.model.access.rules import Pattern, Rule, Rules


def test_a_file_is_read() -> None:
    text = """
    [[rule]]
    users = ["etl"]
    groups = ["jobs"]
    objects = ["Hive.Sales", "*.*.tmp_?"]
    allow = ["list", "write_statistics"]

    [[rule]]
    allow = []
    """
    first = Rule(
        1,
        ("etl",),
        ("jobs",),
        (Pattern(("hive", "sales")), Pattern(("*", "*", "tmp_?"))),
        frozenset({Action.LIST, Action.WRITE_STATISTICS}),
    )
    assert parse_rules(text, "rules.toml") == Rules((first, Rule(2, None, None, None, frozenset())))
    assert parse_rules("", "rules.toml") == Rules(())


def test_groups_are_read() -> None:
    text = """
    [groups]
    staff = ["alice", "bob"]
    jobs = ["bob"]
    left = []
    """
    assert parse_rules(text, "rules.toml").groups == {"alice": ("staff",), "bob": ("staff", "jobs")}


WRONG = {
    "groups = 3": "f.toml: groups must be a table of lists of users, found groups = 3",
    "[groups]\nstaff = 'alice'": "f.toml, groups: staff must be a list of texts, found 'alice'",
    "[groups]\nstaff = ['a*']": "f.toml, groups: staff must name users without * and ?, found 'a*'",
    "[group]\nstaff = ['alice']": "f.toml: there is no key 'group', is it groups?",
    "[[rule]": "f.toml is no valid TOML: ",
    "[[rules]]": "f.toml: there is no key 'rules', is it rule?",
    "rule = 3": "f.toml: rules must be tables [[rule]], found rule = 3",
    "[[rule]]\nusers = ['a']": "f.toml, rule 1: allow must be a list of actions, which may be empty; found none",
    "[[rule]]\nallow = []\n[[rule]]\nallow = ['raed']": (
        "f.toml, rule 2: allow: action 'raed' does not exist, is it read?"
    ),
    "[[rule]]\nallow = ['frobnicate']": (
        "f.toml, rule 1: allow: action 'frobnicate' does not exist; expected some of list, read, read_statistics, "
        "write_statistics, create, alter, drop, lock, read_notifications, admin"
    ),
    "[[rule]]\nuser = ['a']\nallow = []": "f.toml, rule 1: there is no key 'user', is it users?",
    "[[rule]]\nzzz = ['a']\nallow = []": "f.toml, rule 1: there is no key 'zzz'; expected some of users, groups, ",
    "[[rule]]\nusers = 'a'\nallow = []": "f.toml, rule 1: users must be a list of texts, found 'a'",
    "[[rule]]\nusers = []\nallow = []": "f.toml, rule 1: users must name something, found []; leave it out for any",
    "[[rule]]\ngroups = [3]\nallow = []": "f.toml, rule 1: groups must be a list of texts, found [3]",
    "[[rule]]\nobjects = ['a..b']\nallow = []": (
        "f.toml, rule 1: objects: an object must be catalog, catalog.database or catalog.database.table, found 'a..b'"
    ),
    "[[rule]]\nobjects = ['a.b.c.d']\nallow = []": "f.toml, rule 1: objects: an object must be ",
    f"[[rule]]\nusers = ['{'a' * 5_000}']\nallow = []": "f.toml, rule 1: users: a pattern may have 4000 characters",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_refused(text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        parse_rules(text, "f.toml")
    assert str(refused.value).startswith(WRONG[text])


@given(st.text(st.sampled_from("[]rule\n =\"'a,#x"), max_size=60))
def test_any_text_is_read_or_refused_with_the_file(text: str) -> None:
    refused = ""
    try:
        parse_rules(text, "f.toml")
    except SettingsError as error:
        refused = str(error)
    assert refused == "" or refused.startswith("f.toml")


def test_names_are_lower_case() -> None:
    assert parse_object("Hive.Sales.Orders") == ("hive", "sales", "orders")
