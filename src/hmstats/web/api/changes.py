"""The changes that the API takes, in the order in which its description lists them.

A change names the version of what it is about (If-Match): the ETag of the operation whose answer it changes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hmstats.client import Metastore
from hmstats.web.answers.history import RestoreResult
from hmstats.web.answers.locks import Locks
from hmstats.web.answers.pending import PendingResult
from hmstats.web.api.operations import OPERATIONS, Operation
from hmstats.web.api.parameters import Arguments, Parameter
from hmstats.web.reading.locks import LockWish, lock, unlock
from hmstats.web.reading.past.change import restored
from hmstats.web.reading.pending import publish, reject

_OF = {each.name: each for each in OPERATIONS}
_TABLE = _OF["getLocks"].parameters[0]
_WAITING = Parameter(name="partition", description="Only of this partition.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreWish:
    """The time whose statistics are to be written again: ISO 8601, or so long ago, as `2h ago`."""

    as_of: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change: its method and path below the prefix, the type of its body (None: it has none), and of its answer.

    `of` is the operation whose answer has the version that the change names. `write` gets the version of the table too,
    with which the metastore must still find it; None if it tells none.
    """

    method: Literal["post", "put", "delete"]
    path: str
    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    body: type[Any] | None
    answer: type[Any]
    of: Operation
    write: Callable[[Metastore, Arguments, Any, int | None], Any]


CHANGES = (
    Change(
        "post",
        "/tables/{table}/history",
        "restore",
        "Write the statistics of a time again.",
        (_TABLE,),
        RestoreWish,
        RestoreResult,
        _OF["listVersions"],
        lambda service, given, wish, version: restored(
            service, given.required("table"), wish.as_of, dry_run=False, if_version=version
        ),
    ),
    Change(
        "put",
        "/tables/{table}/lock",
        "lock",
        "Lock statistics against writes.",
        (_TABLE,),
        LockWish,
        Locks,
        _OF["getLocks"],
        lambda service, given, wish, version: lock(service, given.required("table"), wish, version),
    ),
    Change(
        "delete",
        "/tables/{table}/lock",
        "unlock",
        "Let statistics be written again: the lock of exactly this object goes.",
        (
            _TABLE,
            Parameter(name="partition", description="The partition whose lock goes; without it, that of the table."),
            Parameter(name="columns", description="The columns whose locks go, separated by commas."),
        ),
        None,
        Locks,
        _OF["getLocks"],
        lambda service, given, _, version: unlock(
            service,
            given.required("table"),
            given.text("partition"),
            tuple(each.strip() for each in (given.text("columns") or "").split(",") if each.strip()),
            version,
        ),
    ),
    Change(
        "post",
        "/tables/{table}/pending",
        "publish",
        "Publish the pending statistics of all of the table or of a partition: planners get them.",
        (_TABLE, _WAITING),
        None,
        PendingResult,
        _OF["getPending"],
        lambda service, given, _, version: publish(service, given.required("table"), given.text("partition"), version),
    ),
    Change(
        "delete",
        "/tables/{table}/pending",
        "reject",
        "Discard the pending statistics of all of the table or of a partition.",
        (_TABLE, _WAITING),
        None,
        PendingResult,
        _OF["getPending"],
        lambda service, given, _, version: reject(service, given.required("table"), given.text("partition"), version),
    ),
)
