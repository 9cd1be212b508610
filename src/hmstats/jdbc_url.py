"""Splits the JDBC URL of a database server, as Hive's and Spark's settings have it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

_URL = re.compile(r"jdbc:(?P<kind>[a-z0-9]+):(?P<rest>.*)", re.DOTALL)
_SERVER = re.compile(r"(?://(?P<hosts>[^/?;]*)/)?(?P<database>[^/?;]*)(?:\?(?P<parameters>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class JdbcServer:
    """The parts of `//HOSTS/DATABASE?NAME=VALUE&...`; `hosts` is None if there is only a database."""

    hosts: str | None
    database: str
    parameters: Mapping[str, str]
    """Their values as drivers read them: %40 is @."""


def kind_and_rest(url: str) -> tuple[str, str] | None:
    """The kind of the database, such as postgresql, and what follows it; None if the text is no JDBC URL."""
    found = _URL.fullmatch(url)
    return None if found is None else (found["kind"], found["rest"])


def server_of(rest: str) -> JdbcServer | None:
    """The server that the rest of a URL names; None if it has another form."""
    found = _SERVER.fullmatch(rest)
    if found is None:
        return None
    parameters = dict(parse_qsl(found["parameters"] or "", keep_blank_values=True))
    return JdbcServer(found["hosts"], found["database"], parameters)
