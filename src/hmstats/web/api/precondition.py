"""A change is carried out only if what it is about is as its caller has seen it."""

import hashlib
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter

from hmstats.client import Metastore
from hmstats.client.naming import named_table
from hmstats.errors import CallRefused
from hmstats.web.api.changes import Change
from hmstats.web.api.operations import Operation
from hmstats.web.api.parameters import Arguments, parse_arguments
from hmstats.web.problems import WrongVersion

_MOST_LOOKS = 5
"""How often a table that others write to is looked at for one change."""


def etag(body: bytes) -> str:
    """The version of an answer: the digest of what it says."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def version(service: Metastore, operation: Operation, asked: Arguments) -> str:
    """The ETag of an operation's answer about the table, without any of its other parameters."""
    bare = parse_arguments(operation.parameters, {"table": quote(asked.required("table"))}, [])
    return version_of(operation, operation.read(service, bare))


def version_of(operation: Operation, found: Any) -> str:
    """The ETag of an answer to an operation."""
    return etag(TypeAdapter(operation.answer).dump_json(found, exclude_none=True))


def apply_change(service: Metastore, change: Change, asked: Arguments, wish: Any, if_match: str | None) -> Any:
    """The answer to a change. Raises WrongVersion unless `if_match` has the current version.

    The metastore makes the change only if the table is still as it was when that was looked at. When it is not, it is
    looked at again: what was changed meanwhile may be of no account here.
    """
    if not if_match:
        raise WrongVersion(
            f"a change names the version that it is about: expected If-Match with the ETag of GET {change.of.path}",
            given=False,
        )
    table = asked.required("table")
    for _ in range(_MOST_LOOKS):
        before = _table_version(service, table)
        now = version(service, change.of, asked)
        if now not in [each.strip() for each in if_match.split(",")]:
            raise WrongVersion(f"{table} has changed meanwhile: expected {if_match[:60]}, found {now}", given=True)
        try:
            return change.write(service, asked, wish, before)
        except CallRefused:
            if before is None or _table_version(service, table) == before:
                raise
    raise WrongVersion(f"{table} changes all the time: expected that it stays as it is for a moment", given=True)


def _table_version(service: Metastore, table: str) -> int | None:
    """The version of a table, which every write of it raises; None if the metastore tells none."""
    try:
        return service.pending.of_table(named_table(table)).version
    except CallRefused:
        return None
