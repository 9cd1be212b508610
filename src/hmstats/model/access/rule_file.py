"""Access rules in TOML: tables `[[rule]]` in order, with `users`, `groups`, `objects` and `allow`; a table `[groups]`.

An absent `users`, `groups` or `objects` stands for any; `allow` must be there, and may be empty. `[groups]` has the
users of each group.
"""

import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from hmstats.errors import MetaError, SettingsError
from hmstats.model.access.actions import Action
from hmstats.model.access.rules import Pattern, Rule, Rules
from hmstats.model.catalog.wildcards import check_length

_RULE = "rule"
_GROUPS = "groups"
_KEYS = ("users", "groups", "objects", "allow")
_MOST_PARTS = 3


def parse_rules(text: str, file: str) -> Rules:
    """The rules in a text. Raises SettingsError with the file, the rule's number and the key that is wrong."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} is no valid TOML: {error}") from error
    _refuse_unknown(file, content, (_RULE, _GROUPS))
    tables = content.get(_RULE, [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise SettingsError(f"{file}: rules must be tables [[rule]], found {_RULE} = {tables!r}")
    rules = tuple(_rule(f"{file}, rule {number}", number, each) for number, each in enumerate(tables, 1))
    return Rules(rules, _groups_of_users(file, content.get(_GROUPS, {})))


def parse_object(text: str) -> tuple[str, ...]:
    """The parts of an object's name or pattern, in lower case. Raises SettingsError unless it has one to three."""
    parts = tuple(text.lower().split("."))
    if not all(parts) or len(parts) > _MOST_PARTS:
        raise SettingsError(f"an object must be catalog, catalog.database or catalog.database.table, found {text!r}")
    return parts


def _rule(place: str, number: int, table: Mapping[str, Any]) -> Rule:
    _refuse_unknown(place, table, _KEYS)
    if "allow" not in table:
        raise SettingsError(f"{place}: allow must be a list of actions, which may be empty; found none")
    users, groups, objects = (_texts(place, table, key) for key in ("users", "groups", "objects"))
    allow = _texts(place, table, "allow", may_be_empty=True) or ()
    return Rule(number, users, groups, _patterns(place, objects), _actions(place, allow))


def _groups_of_users(file: str, users_of_groups: object) -> dict[str, tuple[str, ...]]:
    """The groups of each user. Users are named as they are: a pattern would put users in groups that nobody meant."""
    if not isinstance(users_of_groups, dict):
        raise SettingsError(f"{file}: groups must be a table of lists of users, found groups = {users_of_groups!r}")
    groups: dict[str, tuple[str, ...]] = {}
    for group in users_of_groups:
        for user in _texts(f"{file}, groups", users_of_groups, group, may_be_empty=True) or ():
            if "*" in user or "?" in user:
                raise SettingsError(f"{file}, groups: {group} must name users without * and ?, found {user!r}")
            groups[user] = (*groups.get(user, ()), group)
    return groups


def _texts(place: str, table: Mapping[str, Any], key: str, *, may_be_empty: bool = False) -> tuple[str, ...] | None:
    """The texts of a key's list; None if the key is absent. An empty list of users would be a rule about nobody."""
    if key not in table:
        return None
    value = table[key]
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise SettingsError(f"{place}: {key} must be a list of texts, found {value!r}")
    if not value and not may_be_empty:
        raise SettingsError(f"{place}: {key} must name something, found []; leave it out for any")
    try:
        for each in value:
            check_length(each)
    except MetaError as error:
        raise SettingsError(f"{place}: {key}: {error}") from error
    return tuple(value)


def _patterns(place: str, texts: Iterable[str] | None) -> tuple[Pattern, ...] | None:
    if texts is None:
        return None
    try:
        return tuple(Pattern(parse_object(each)) for each in texts)
    except SettingsError as error:
        raise SettingsError(f"{place}: objects: {error}") from error


def _actions(place: str, names: Iterable[str]) -> frozenset[Action]:
    known = [action.value for action in Action]
    for name in names:
        if name not in known:
            said = _nearest(name, known) or f"; expected some of {', '.join(known)}"
            raise SettingsError(f"{place}: allow: action {name!r} does not exist{said}")
    return frozenset(map(Action, names))


def _refuse_unknown(place: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            said = _nearest(key, keys) or f"; expected some of {', '.join(keys)}"
            raise SettingsError(f"{place}: there is no key {key!r}{said}")


def _nearest(name: str, known: Iterable[str]) -> str:
    nearest = get_close_matches(name, list(known), n=1)
    return f", is it {nearest[0]}?" if nearest else ""
