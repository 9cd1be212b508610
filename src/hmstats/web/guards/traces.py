"""A span for each request, in the trace of the caller (the header traceparent)."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hmstats import tracing


class Traces:
    """Makes the spans, which the calls that a request needs are parts of."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, within a span."""
        if scope["type"] != "http" or not tracing.is_on():
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        carrier = {name: headers[name] for name in tracing.HEADERS if name in headers}
        method = scope["method"]
        with tracing.span(
            method,
            "server",
            carrier,
            http__request__method=method,
            url__path=scope["path"],
            url__scheme=scope["scheme"],
        ) as span:

            async def send_and_note(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            await self._app(scope, receive, send_and_note)
            if route := getattr(scope.get("route"), "path", None):
                span.update_name(f"{method} {route}")
                span.set_attribute("http.route", route)
