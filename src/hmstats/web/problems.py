"""Errors as HTTP has them: a status, a short title, and the sentence that the command line says too."""

import re
from dataclasses import dataclass
from http import HTTPStatus

from hmstats.errors import (
    CallRefused,
    HmstatsError,
    MetastoreError,
    NoSuchObject,
    ServiceUnavailable,
    SketchError,
    StatementError,
    UnknownCall,
)

_STATUSES: tuple[tuple[type[HmstatsError], HTTPStatus], ...] = (
    (NoSuchObject, HTTPStatus.NOT_FOUND),
    (StatementError, HTTPStatus.BAD_REQUEST),
    (MetastoreError, HTTPStatus.BAD_REQUEST),
    (ServiceUnavailable, HTTPStatus.SERVICE_UNAVAILABLE),
    (CallRefused, HTTPStatus.BAD_GATEWAY),
    (SketchError, HTTPStatus.BAD_GATEWAY),
)
"""The first class that fits counts."""
_HTTP = {"status 401": HTTPStatus.UNAUTHORIZED, "status 403": HTTPStatus.FORBIDDEN}
"""Statuses that a metastore over HTTP answers in place of a message."""
_DENIED = re.compile(r"\S+ may not \S+ .*: (no rule allows it|rule \d+ does not allow it)", re.DOTALL)
"""The sentence by which a server of hmstats refuses what its access rules do not allow."""
_WRONG = frozenset({"InvalidInputException", "InvalidObjectException", "InvalidOperationException"})
"""Refusals of the metastore whose cause is the question."""


class Forbidden(HmstatsError):
    """A change that the page does not take, or not from there."""


class WrongVersion(HmstatsError):
    """A change of something that is no longer as it was when it was looked at; `given`: a version was named."""

    def __init__(self, sentence: str, *, given: bool) -> None:
        super().__init__(sentence)
        self.given = given


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An error as RFC 9457 has it; `instance` is the path of the request."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str | None = None


def problem_of(error: HmstatsError, instance: str) -> Problem:
    """The problem that an error is to the one who asked."""
    return problem(_status(error), str(error), instance)


def problem(status: HTTPStatus, detail: str, instance: str) -> Problem:
    """A problem with this status."""
    return Problem(title=status.phrase, status=status.value, detail=detail, instance=instance)


def _status(error: HmstatsError) -> HTTPStatus:
    if isinstance(error, WrongVersion):
        return HTTPStatus.PRECONDITION_FAILED if error.given else HTTPStatus.PRECONDITION_REQUIRED
    if isinstance(error, Forbidden):
        return HTTPStatus.FORBIDDEN
    if isinstance(error, CallRefused):
        found = _status_of_refusal(error)
        if found is not None:
            return found
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)


def _status_of_refusal(error: CallRefused) -> HTTPStatus | None:
    if error.kind in _HTTP:
        return _HTTP[error.kind]
    if isinstance(error, UnknownCall):
        return HTTPStatus.NOT_IMPLEMENTED
    if error.is_missing:
        return HTTPStatus.NOT_FOUND
    if _DENIED.fullmatch(error.message):
        return HTTPStatus.FORBIDDEN
    return HTTPStatus.BAD_REQUEST if error.kind in _WRONG else None
