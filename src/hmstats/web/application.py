"""The application: all routes behind all guards."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from hmstats.errors import HmstatsError
from hmstats.web import engine_events, health_proxy, metrics
from hmstats.web.admission import Admission
from hmstats.web.api import problems as api_problems
from hmstats.web.api import routes as api
from hmstats.web.api.operations import PREFIX
from hmstats.web.callers import Callers
from hmstats.web.guards.encoded_paths import EncodedPaths
from hmstats.web.guards.headers import SafeHeaders
from hmstats.web.guards.host_names import HostNames
from hmstats.web.guards.origins import Origins
from hmstats.web.guards.traces import Traces
from hmstats.web.guards.versions import Versions
from hmstats.web.metastores import Metastores
from hmstats.web.pages import problems as page_problems
from hmstats.web.pages import routes as pages
from hmstats.web.problems import Problem, problem, problem_of


def application(
    metastores: Metastores,
    names: Iterable[str] = (),
    *,
    writes: bool = False,
    unencrypted: bool = False,
    server_health: str | None = None,
) -> Starlette:
    """The application that asks over these connections and may be reached by these names of the host.

    `writes`: it takes changes. `unencrypted`: it takes proofs of users over plain HTTP from other machines.
    `server_health`: the address of health and metrics of the server that the page is mounted beside.
    """
    admission = Admission(metastores, Callers(unencrypted=unencrypted), writes=writes)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        metastores.close()

    return Starlette(
        routes=[
            *([] if server_health is None else health_proxy.routes(server_health)),
            *api.routes(admission),
            *metrics.routes(admission),
            *engine_events.routes(admission),
            *pages.routes(admission),
        ],
        middleware=[
            Middleware(Traces),
            Middleware(SafeHeaders),
            Middleware(HostNames, names=tuple(names)),
            Middleware(Origins),
            Middleware(Versions),
            Middleware(EncodedPaths),
        ],
        exception_handlers={HmstatsError: _answer_error, HTTPException: _wrong, ClientDisconnect: _leave},
        lifespan=lifespan,
    )


def _answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HmstatsError)
    response = _problem_response(request, problem_of(error, request.url.path))
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = 'Basic realm="hmstats", charset="UTF-8"'
    return response


def _wrong(request: Request, error: Exception) -> Response:
    """The answer to an address or a method that no route has."""
    assert isinstance(error, HTTPException)
    response = _problem_response(
        request, problem(HTTPStatus(error.status_code), _detail(request, error), request.url.path)
    )
    response.headers.update(error.headers or {})
    return response


def _leave(_request: Request, _error: Exception) -> Response:
    """The answer to a client that left before its body was whole; nobody receives it."""
    return Response(status_code=HTTPStatus.BAD_REQUEST)


def _detail(request: Request, error: HTTPException) -> str:
    if error.status_code == HTTPStatus.NOT_FOUND:
        return f"there is nothing at {request.url.path[:200]}"
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        taken = (error.headers or {}).get("Allow", "GET, HEAD")
        return f"{request.url.path[:200]} takes {taken} only, found {request.method[:20]}"
    return error.detail


def _problem_response(request: Request, found: Problem) -> Response:
    """The problem in the form of what was asked for."""
    of_api = request.url.path.startswith(f"{PREFIX}/")
    return api_problems.answer(found) if of_api else page_problems.answer(request, found)
