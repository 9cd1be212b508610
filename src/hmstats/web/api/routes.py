"""The operations of the API as routes."""

from collections.abc import Callable

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hmstats.web.api.openapi import openapi
from hmstats.web.api.operations import OPERATIONS, PREFIX, Operation
from hmstats.web.api.parameters import given
from hmstats.web.metastores import Metastores


def routes(metastores: Metastores) -> list[Route]:
    """A route for each operation, and one for their description."""
    description = openapi()

    def described(_request: Request) -> Response:
        return JSONResponse(description)

    own = [Route(_path(each), _endpoint(each, metastores), methods=["GET"], name=each.name) for each in OPERATIONS]
    return [Route(f"{PREFIX}/openapi.json", described, methods=["GET"]), *own]


def _path(operation: Operation) -> str:
    """The route's path; a column's name, which is its end, may hold any character."""
    return PREFIX + operation.path.replace("{column}", "{column:path}")


def _endpoint(operation: Operation, metastores: Metastores) -> Callable[[Request], Response]:
    """The function that answers; Starlette runs it in a thread."""
    adapter = TypeAdapter(operation.answer)

    def answer(request: Request) -> Response:
        asked = given(operation.parameters, request.path_params, request.query_params.multi_items())
        with metastores.one() as service:
            found = operation.read(service, asked)
        response = Response(adapter.dump_json(found, exclude_none=True), media_type="application/json")
        after = getattr(found, "next", None)
        if after is not None:
            url = request.url.include_query_params(after=after)
            response.headers["Link"] = f'<{url.path}?{url.query}>; rel="next"'
        return response

    return answer
