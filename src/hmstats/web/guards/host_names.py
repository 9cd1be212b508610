"""Refuses requests for a host name that is not the page's own.

A site whose name is pointed at this machine (DNS rebinding) would else be read as the page's own origin. An address is
no name that somebody else can point.
"""

from collections.abc import Iterable
from http import HTTPStatus
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from hmstats.web.api.problems import answer
from hmstats.web.problems import problem


class HostNames:
    """Lets requests through whose Host is an address, localhost or one of these names."""

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = frozenset(each.lower() for each in (*names, "localhost"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse the name."""
        if scope["type"] == "http":
            host = Headers(scope=scope).get("host", "")
            if not self._is_own(host):
                detail = f"the page is not reached as {host[:100]!r}; the setting web_names lists its names"
                await answer(problem(HTTPStatus.MISDIRECTED_REQUEST, detail, scope["path"]))(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_own(self, host: str) -> bool:
        name = host_without_port(host).lower()
        try:
            ip_address(name)
        except ValueError:
            return name in self._names
        return True


def host_without_port(host: str) -> str:
    """The name or address in a Host header; an IPv6 address without its brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
