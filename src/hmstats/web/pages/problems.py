"""Errors as pages."""

from starlette.requests import Request
from starlette.responses import Response

from hmstats.web.pages.rendering import page
from hmstats.web.problems import Problem


def answer(request: Request, problem: Problem) -> Response:
    """The page that shows a problem."""
    return page(request, "problem.html", problem.status, problem=problem)
