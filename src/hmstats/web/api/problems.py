"""Errors of the API as RFC 9457 has them."""

from pydantic import TypeAdapter
from starlette.responses import Response

from hmstats.web.problems import Problem

MEDIA_TYPE = "application/problem+json"
_PROBLEM = TypeAdapter(Problem)


def answer(problem: Problem) -> Response:
    """The response that reports a problem."""
    body = _PROBLEM.dump_json(problem, exclude_none=True)
    return Response(body, problem.status, media_type=MEDIA_TYPE)
