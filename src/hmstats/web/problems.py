"""Errors as HTTP has them: a status, a short title, and the sentence that the command line says too."""

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
_WRONG = frozenset({"InvalidInputException", "InvalidObjectException", "InvalidOperationException"})
"""Refusals of the metastore whose cause is the question."""


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
    if isinstance(error, CallRefused) and error.kind in _WRONG:
        return HTTPStatus.BAD_REQUEST
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)
