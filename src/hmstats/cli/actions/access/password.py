"""`hmstats password`: a line of a password file, with a hash of a password that no command line has shown."""

import getpass
import json
import sys
from collections.abc import Sequence

import typer

from hmstats.errors import SettingsError
from hmstats.model.access.password_line import line_of


def print_line(user: str, groups: Sequence[str], *, as_json: bool) -> None:
    """Print the line of a user. Raises SettingsError if the password is empty or typed differently again."""
    line = line_of(user, tuple(groups), _password())
    typer.echo(json.dumps({"user": user, "line": line}) if as_json else line)


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    given = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != given:
        raise SettingsError("the two passwords differ")
    return given
