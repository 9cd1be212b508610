"""Passes requests for health and metrics on to the server that the page is mounted beside.

The server answers them itself if they come first on a connection; those that come later on it get here.
"""

import urllib.error
import urllib.request
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

PATHS = ("/health/live", "/health/ready", "/metrics")
_ANSWER_SECONDS = 10.0


def routes(server_health: str) -> list[Route]:
    """A route for each path; `server_health` is the address without a path, as http://127.0.0.1:9084."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the server is on this machine

    def answer(request: Request) -> Response:
        try:
            with opener.open(f"{server_health}{request.url.path}", timeout=_ANSWER_SECONDS) as found:
                return Response(found.read(), found.status, media_type=found.headers["Content-Type"])
        except urllib.error.HTTPError as error:
            with error:
                return Response(error.read(), error.code, media_type=error.headers["Content-Type"])
        except OSError as error:
            return PlainTextResponse(f"the server does not answer: {error}\n", HTTPStatus.BAD_GATEWAY)

    return [Route(path, answer, methods=["GET"]) for path in PATHS]
