"""Refuses changes that another site's page asks for: a browser says where a request comes from."""

from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from hmstats.web.api.problems import answer
from hmstats.web.problems import problem

_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_OWN = frozenset({"same-origin", "none"})


class Origins:
    """Lets changes through that come from the page itself, or from no browser."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse the origin."""
        if scope["type"] == "http" and scope["method"] not in _SAFE and not _is_own(Headers(scope=scope)):
            detail = "a change must be asked for by the page itself, found a request of another site"
            await answer(problem(HTTPStatus.FORBIDDEN, detail, scope["path"]))(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_own(headers: Headers) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in _OWN
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")
