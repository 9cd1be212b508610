"""Events of finished queries, straight from an engine: Trino's HTTP event listener posts them here.

An event is read and judged in a thread of its own, and nothing of it but blame is kept. A few are taken at once: they
are large in memory, and pages need threads too.
"""

import asyncio
import json
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hmstats.errors import StatementError
from hmstats.learning.learn import learn
from hmstats.learning.trino.events import event_query, is_event
from hmstats.web.admission import Admission

PATH = "/events/trino"
MOST_EVENT_BYTES = 32 * 2**20
"""Most bytes of an event. That of a join of three tables has half a MB."""
AT_ONCE = 8
"""Events that are read and judged at once; others wait, and are not read meanwhile."""


def routes(admission: Admission) -> list[Route]:
    """The route to which Trino posts, as the user whose token it sends."""

    def recorded(request: Request, body: bytes) -> Response:
        try:
            event = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise StatementError(f"an event of Trino must be JSON, found other: {str(error)[:200]}") from error
        if not isinstance(event, dict) or not is_event(event):
            raise StatementError("an event of Trino must have metadata and statistics, as QueryCompletedEvent has")
        query = event_query(event)
        with admission.service(request) as service:
            learned = learn(service, [] if query is None else [query])
        return JSONResponse({"queries": learned.queries, "recorded": learned.recorded}, HTTPStatus.OK)

    places = asyncio.Semaphore(AT_ONCE)

    async def answer(request: Request) -> Response:
        admission.require_writes()  # before a large body is read
        async with places:
            return await run_in_threadpool(recorded, request, await admission.body(request, MOST_EVENT_BYTES))

    return [Route(PATH, answer, methods=["POST"])]
