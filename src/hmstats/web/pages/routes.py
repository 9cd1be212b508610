"""The pages by their paths: each shows the answer to an operation of the API, with the parameters of that."""

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hmstats.client import Metastore
from hmstats.web.api.operations import OPERATIONS
from hmstats.web.api.parameters import Given, given
from hmstats.web.metastores import Metastores
from hmstats.web.pages.rendering import STATIC, page, static
from hmstats.web.reading.partition_cells import partition_cells, partition_list, read_partitions

_OF = {each.name: each for each in OPERATIONS}
Shown = Callable[[Request, Metastore, Given], Response]


def routes(metastores: Metastores) -> list[Route]:
    """A route for each page, and for the files that pages load."""

    def shown(operation: str, show: Shown) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            filled = [
                (name, text) for name, text in request.query_params.multi_items() if text
            ]  # empty fields of a form
            asked = given(_OF[operation].parameters, request.path_params, filled)
            with metastores.one() as service:
                return show(request, service, asked)

        return answer

    return [
        Route("/", shown("listTables", _tables)),
        Route("/tables/{table}", shown("getTable", _table)),
        Route("/tables/{table}/partitions", shown("listPartitions", _partitions)),
        Route("/tables/{table}/columns/{column:path}", shown("getColumn", _column)),
        Route("/static/{name}", _static),
    ]


def _tables(request: Request, service: Metastore, asked: Given) -> Response:
    found = _OF["listTables"].read(service, asked)
    return page(request, "tables.html", found=found, search=asked.text("q") or "", metastore=service.address)


def _table(request: Request, service: Metastore, asked: Given) -> Response:
    found = _OF["getTable"].read(service, asked)
    return page(request, "table.html", found=found, selection=asked.selection, after=asked.text("after"))


def _column(request: Request, service: Metastore, asked: Given) -> Response:
    found = _OF["getColumn"].read(service, asked)
    return page(request, "column.html", found=found, selection=asked.selection)


def _partitions(request: Request, service: Metastore, asked: Given) -> Response:
    read = read_partitions(service, asked.required("table"), asked.selection)
    cells = partition_cells(service, read)
    listed = partition_list(service, read, after=asked.text("after"), limit=asked.number("limit"))
    return page(request, "partitions.html", found=cells, listed=listed, selection=asked.selection)


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(static(name), media_type=STATIC[name])
