"""Paths are matched as they were sent, percent signs and all: `%2F` in a name does not separate it in two.

Who reads a part of the path decodes that part (api/parameters.py); links are made of the path as it is.
"""

from starlette.types import ASGIApp, Receive, Scope, Send


class EncodedPaths:
    """Gives the routes the path that the client sent, in place of the one that the server has decoded."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the path that was sent."""
        sent = scope.get("raw_path")
        if sent is not None:
            scope["path"] = sent.decode("utf-8", "replace")
        await self._app(scope, receive, send)
