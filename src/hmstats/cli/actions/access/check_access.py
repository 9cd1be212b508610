"""The decision of the access rules in the settings about a user, an action and an object."""

import json
from collections.abc import Sequence
from difflib import get_close_matches

import typer

from hmstats.cli.exit_codes import ExitCode
from hmstats.errors import SettingsError
from hmstats.model.access.actions import Action
from hmstats.model.access.rule_file import parse_object
from hmstats.model.access.rules import THE_SERVER, Decision, Identity, object_text
from hmstats.server.access.rules_in_force import read_rules
from hmstats.settings import load


def print_access(
    *, user: str, groups: Sequence[str], action: str, name: str | None, rules: str | None, as_json: bool
) -> None:
    """Print whether an action is allowed, and end with the exit code that says so. Raises SettingsError."""
    wanted, parts = _action(action), THE_SERVER if name is None else parse_object(name)
    file = load({"rules": rules}).rules
    if file is None:
        decision = Decision(allowed=True, rule=None)
        why = "no rules are set"
    else:
        decision = read_rules(file).decide(Identity(user, tuple(groups)), wanted, parts)
        why = "no rule is about it" if decision.rule is None else f"rule {decision.rule} of {file}"
    if as_json:
        row = {"user": user, "groups": list(groups), "action": wanted.value, "object": object_text(parts)}
        typer.echo(json.dumps(row | {"allowed": decision.allowed, "rule": decision.rule, "file": file}))
    else:
        typer.echo(f"{'allowed' if decision.allowed else 'denied'}: {user} {wanted} {object_text(parts)} ({why})")
    raise typer.Exit(ExitCode.DONE if decision.allowed else ExitCode.NO)


def _action(name: str) -> Action:
    try:
        return Action(name)
    except ValueError:
        known = [action.value for action in Action]
        nearest = get_close_matches(name, known, n=1)
        expected = f"is it {nearest[0]}?" if nearest else f"expected one of {', '.join(known)}"
        raise SettingsError(f"action {name!r} does not exist, {expected}") from None
