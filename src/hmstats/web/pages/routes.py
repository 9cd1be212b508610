"""The pages by their paths: each shows the answer to an operation of the API, with the parameters of that."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from hmstats.client import Metastore
from hmstats.errors import UnknownCall
from hmstats.web.admission import Admission
from hmstats.web.api.changes import CHANGES, RestoreWish
from hmstats.web.api.operations import OPERATIONS
from hmstats.web.api.parameters import Arguments, parse_arguments
from hmstats.web.api.precondition import apply_change, version, version_of
from hmstats.web.pages.addresses import part_address
from hmstats.web.pages.course_lines import course_lines
from hmstats.web.pages.rendering import STATIC, page, static
from hmstats.web.reading.locks import LockWish
from hmstats.web.reading.partition_cells import partition_cells, partition_list, read_partitions
from hmstats.web.reading.past.versions import MOST_MOMENTS, table_course

_OF = {each.name: each for each in OPERATIONS}
_CHANGES = {each.name: each for each in CHANGES}
Shown = Callable[[Request, Metastore, Arguments, Admission], Response]
Wish = Callable[[dict[str, str]], object]


def routes(admission: Admission) -> list[Route]:
    """A route for each page and each form, and for the files that pages load."""

    def shown(operation: str, show: Shown) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            filled = [
                (name, text) for name, text in request.query_params.multi_items() if text
            ]  # empty fields of a form
            asked = parse_arguments(_OF[operation].parameters, request.path_params, filled)
            with admission.service(request) as service:
                return show(request, service, asked, admission)

        return answer

    return [
        Route("/", shown("listHealth", _start)),
        Route("/tables", shown("listTables", _tables)),
        Route("/locks", shown("listLocks", _locks)),
        Route("/pending", shown("listPending", _pending)),
        Route("/runs", shown("listRuns", _runs)),
        Route("/plan", shown("getRefreshPlan", _plan)),
        Route("/feedback", shown("getFeedback", _feedback)),
        Route("/access", shown("getAccess", _access)),
        Route("/tables/{table}", shown("getTable", _table)),
        Route("/tables/{table}/partitions", shown("listPartitions", _partitions)),
        Route("/tables/{table}/history", shown("listVersions", _history)),
        Route("/tables/{table}/diff", shown("getDifference", _diff)),
        Route("/tables/{table}/restore", shown("previewRestore", _restore), methods=["GET"]),
        Route("/tables/{table}/restore", _form(admission, "restore", "history", _restore_wish), methods=["POST"]),
        Route("/tables/{table}/lock", shown("getLocks", _lock), methods=["GET"]),
        Route("/tables/{table}/lock", _form(admission, "lock", "lock", _lock_wish), methods=["POST"]),
        Route("/tables/{table}/unlock", _form(admission, "unlock", "lock", None), methods=["POST"]),
        Route("/tables/{table}/pending", shown("getPending", _table_pending)),
        Route("/tables/{table}/publish", _form(admission, "publish", "pending", None), methods=["POST"]),
        Route("/tables/{table}/reject", _form(admission, "reject", "pending", None), methods=["POST"]),
        Route("/tables/{table}/columns/{column:path}", shown("getColumn", _column)),
        Route("/static/{name}", _static),
    ]


def _start(request: Request, service: Metastore, asked: Arguments, admission: Admission) -> Response:
    """The start page: tables by health, or by name if the metastore keeps no health."""
    try:
        found = _OF["listHealth"].read(service, asked)
    except UnknownCall:
        bare = parse_arguments(_OF["listTables"].parameters, {}, [])
        return _tables(request, service, bare, admission)
    return page(request, "health.html", found=found, metastore=service.address)


def _tables(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    found = _OF["listTables"].read(service, asked)
    return page(request, "tables.html", found=found, search=asked.text("q") or "", metastore=service.address)


def _table(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    found = _OF["getTable"].read(service, asked)
    return page(request, "table.html", found=found, selection=asked.selection, after=asked.text("after"))


def _column(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    found = _OF["getColumn"].read(service, asked)
    return page(request, "column.html", found=found, selection=asked.selection)


def _partitions(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    read = read_partitions(service, asked.required("table"), asked.selection)
    cells = partition_cells(service, read)
    listed = partition_list(service, read, after=asked.text("after"), limit=asked.number("limit"))
    return page(request, "partitions.html", found=cells, listed=listed, selection=asked.selection)


def _history(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    found = _OF["listVersions"].read(service, asked)
    table = service.find_table(found.table)  # a dropped one has a history, but no numbers of now
    course = None if table is None else table_course(service, found.table, found.column, limit=MOST_MOMENTS)
    lines = [] if course is None else course_lines(course)
    return page(request, "history.html", found=found, course=course, lines=lines)


def _diff(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    return page(request, "diff.html", found=_OF["getDifference"].read(service, asked))


def _restore(request: Request, service: Metastore, asked: Arguments, admission: Admission) -> Response:
    found = _OF["previewRestore"].read(service, asked)
    of = version(service, _OF["listVersions"], asked)
    return page(
        request, "restore.html", found=found, as_of=asked.required("as_of"), **_changing(request, admission, of)
    )


def _lock(request: Request, service: Metastore, asked: Arguments, admission: Admission) -> Response:
    found = _OF["getLocks"].read(service, asked)
    of = version_of(_OF["getLocks"], found)
    return page(request, "lock.html", found=found, **_changing(request, admission, of))


def _locks(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    return page(request, "locks.html", found=_OF["listLocks"].read(service, asked))


def _pending(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    return page(request, "pending.html", found=_OF["listPending"].read(service, asked))


def _table_pending(request: Request, service: Metastore, asked: Arguments, admission: Admission) -> Response:
    found = _OF["getPending"].read(service, asked)
    of = version_of(_OF["getPending"], found)
    return page(request, "table_pending.html", found=found, **_changing(request, admission, of))


def _runs(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    found = _OF["listRuns"].read(service, asked)
    longest = max((each.seconds or 0 for each in found.runs), default=0)
    table, outcome = asked.text("table"), asked.text("outcome")
    return page(request, "runs.html", found=found, longest=longest, table=table, outcome=outcome)


def _plan(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    found = _OF["getRefreshPlan"].read(service, asked)
    longest = max((each.seconds for each in found.work), default=0)
    tables, budget = asked.text("tables") or "", asked.text("budget") or ""
    return page(request, "plan.html", found=found, longest=longest, tables=tables, budget=budget)


def _feedback(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    found = _OF["getFeedback"].read(service, asked)
    return page(request, "feedback.html", found=found, table=asked.text("table"))


def _access(request: Request, service: Metastore, asked: Arguments, _admission: Admission) -> Response:
    found = _OF["getAccess"].read(service, asked)
    return page(request, "access.html", found=found, user=asked.text("user") or "", groups=asked.text("groups") or "")


def _changing(request: Request, admission: Admission, of: str) -> dict[str, Any]:
    """The values for the template of a page with a form."""
    return {"writes": admission.writes, "token": admission.token(request) if admission.writes else "", "of_version": of}


def _form(admission: Admission, name: str, behind: str, wish: Wish | None) -> Callable[[Request], Awaitable[Response]]:
    """The function that carries out a change that a form asks for, then shows the page behind it."""
    change = _CHANGES[name]

    def answer(request: Request, body: bytes) -> Response:
        fields = admission.form(request, body)
        of = fields.pop("version", None)
        query = [] if wish else [(key, text) for key, text in fields.items() if text]
        asked = parse_arguments(change.parameters, request.path_params, query)
        with admission.service(request) as service:
            apply_change(service, change, asked, None if wish is None else wish(fields), of)
        return RedirectResponse(part_address(asked.required("table"), behind), 303)

    async def respond(request: Request) -> Response:
        return await run_in_threadpool(answer, request, await admission.body(request))

    return respond


def _restore_wish(fields: dict[str, str]) -> RestoreWish:
    return RestoreWish(as_of=fields.get("as_of", ""))


def _lock_wish(fields: dict[str, str]) -> LockWish:
    columns = tuple(each.strip() for each in fields.get("columns", "").split(",") if each.strip())
    refuse = {"refuse": True, "drop": False}.get(fields.get("writes", ""))
    return LockWish(
        partition=fields.get("partition"), columns=columns, refuse=refuse, reason=fields.get("reason") or None
    )


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(static(name), media_type=STATIC[name])
