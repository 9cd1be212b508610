"""The operations and changes of the API as routes."""

from collections.abc import Awaitable, Callable
from itertools import groupby
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hmstats.errors import StatementError
from hmstats.web.admission import Admission
from hmstats.web.api.changes import CHANGES, Change
from hmstats.web.api.openapi import openapi
from hmstats.web.api.operations import OPERATIONS, PREFIX, Operation
from hmstats.web.api.parameters import parse_arguments
from hmstats.web.api.precondition import apply_change

Endpoint = Callable[[Request], Awaitable[Response]]


def routes(admission: Admission) -> list[Route]:
    """A route for each path, and one for the description."""
    description = openapi()

    def describe_api(_request: Request) -> Response:
        return JSONResponse(description)

    found = [Route(f"{PREFIX}/openapi.json", describe_api, methods=["GET"])]
    every: list[tuple[str, str, Endpoint]] = [
        *((each.path, "GET", _reading(each, admission)) for each in OPERATIONS),
        *((each.path, each.method.upper(), _writing(each, admission)) for each in CHANGES),
    ]
    for path, some in groupby(sorted(every, key=lambda each: each[0]), lambda each: each[0]):
        by_method = {method: endpoint for _, method, endpoint in some}
        found.append(Route(_path(path), _by_method(by_method), methods=[*by_method]))
    return sorted(found, key=lambda each: "{column:path}" in each.path)


def _path(path: str) -> str:
    """The route's path; a column's name, which is its end, may hold any character."""
    return PREFIX + path.replace("{column}", "{column:path}")


def _by_method(endpoints: dict[str, Endpoint]) -> Endpoint:
    async def answer(request: Request) -> Response:
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return answer


def _reading(operation: Operation, admission: Admission) -> Endpoint:
    adapter = TypeAdapter(operation.answer)

    def answer(request: Request) -> Response:
        asked = parse_arguments(operation.parameters, request.path_params, request.query_params.multi_items())
        with admission.service(request) as service:
            found = operation.read(service, asked)
        return _json(request, adapter, found)

    async def respond(request: Request) -> Response:
        return await run_in_threadpool(answer, request)

    return respond


def _writing(change: Change, admission: Admission) -> Endpoint:
    adapter = TypeAdapter(change.answer)
    of_body = None if change.body is None else TypeAdapter(change.body)

    def answer(request: Request, body: bytes) -> Response:
        admission.require_writes()
        asked = parse_arguments(change.parameters, request.path_params, request.query_params.multi_items())
        wish = None if of_body is None else _wish(request, of_body, body)
        with admission.service(request) as service:
            found = apply_change(service, change, asked, wish, request.headers.get("if-match"))
        return _json(request, adapter, found)

    async def respond(request: Request) -> Response:
        return await run_in_threadpool(answer, request, await admission.body(request))

    return respond


def _wish(request: Request, of_body: TypeAdapter[Any], body: bytes) -> Any:
    """The body of a change. Raises StatementError for one that is no JSON of its type."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise StatementError(f"the body of a change must be application/json, found {kind[:60] or 'none'}")
    try:
        return of_body.validate_json(body, extra="forbid")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(each) for each in first["loc"]) or "the body"
        raise StatementError(f"{place}: {first['msg']}") from error


def _json(request: Request, adapter: TypeAdapter[Any], found: Any) -> Response:
    response = Response(adapter.dump_json(found, exclude_none=True), media_type="application/json")
    after = getattr(found, "next", None)
    if after is not None:
        url = request.url.include_query_params(after=after)
        response.headers["Link"] = f'<{url.path}?{url.query}>; rel="next"'
    return response
