"""ETags: an answer's version is the digest of what it says, so a reload of what has not changed is a 304.

A Thrift client learns no version of a table's statistics; equal answers have equal digests whoever made them, on any
number of servers.
"""

from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hmstats.web.api.precondition import etag


class Versions:
    """Gives every good answer to GET and HEAD an ETag, and answers 304 when the client has it already."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with an ETag or 304."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        wanted = Headers(scope=scope).get("if-none-match", "")
        start: Message = {}
        body: list[bytes] = []

        async def send_whole(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body.append(message.get("body", b""))
            if not message.get("more_body"):
                await _send(start, b"".join(body), wanted, send)

        await self._app(scope, receive, send_whole)


async def _send(start: Message, body: bytes, wanted: str, send: Send) -> None:
    if start["status"] == HTTPStatus.OK:
        version = etag(body)
        headers = MutableHeaders(scope=start)
        headers["ETag"] = version
        if version in (each.strip().removeprefix("W/") for each in wanted.split(",")) or wanted.strip() == "*":
            start["status"], body = HTTPStatus.NOT_MODIFIED.value, b""
            for name in ("content-length", "content-type"):
                del headers[name]
    await send(start)
    await send({"type": "http.response.body", "body": body})
