"""Requests to a catalog by plain HTTP, retried when the catalog is away or busy."""

import json
import random
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPErrorProcessor, HTTPSHandler, ProxyHandler, Request, build_opener

from hmstats.errors import ServiceUnavailable, SettingsError

_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_ATTEMPTS = 5
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_TIMEOUT_SECONDS = 30.0
_MOST_SAID = 500
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of a catalog: its status, and its body, an object if it is JSON."""

    status: int
    body: Any
    said: str = ""

    @property
    def is_good(self) -> bool:
        """Whether the request was taken."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


@dataclass(frozen=True, slots=True)
class Catalog:
    """A catalog at an http or https address. `token` is sent as Bearer; it is never sent in the clear to another
    machine. `pause` waits for so many seconds.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise SettingsError(
                f"a catalog's address must be http://HOST:PORT or https://HOST:PORT, found {self.url!r}"
            )
        if self.token and parts.scheme == "http" and parts.hostname not in _THIS_MACHINE:
            raise SettingsError(f"a token is not sent to {self.url} unencrypted: use https://")

    def request(self, method: str, path: str, body: Any = None) -> Answer:
        """The answer to a request.

        A request that the catalog is too busy for, or that gets no answer, is sent up to five times, with longer and
        longer pauses, or as long as the catalog asks for (Retry-After). Raises ServiceUnavailable when none is taken.
        """
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        reason = ""
        for attempt in range(_ATTEMPTS):
            wait_seconds = min(_FIRST_PAUSE_SECONDS * 2**attempt, _LONGEST_PAUSE_SECONDS) * random.uniform(0.5, 1)
            try:
                answer, asked_seconds = self._once(method, path, data)
            except (OSError, HTTPException) as error:
                reason = _reason(error)
            else:
                if answer.status not in _BUSY:
                    return answer
                reason = f"status {answer.status}: {answer.said}"
                wait_seconds = max(wait_seconds, min(asked_seconds, _LONGEST_PAUSE_SECONDS))
            if attempt < _ATTEMPTS - 1:
                self.pause(wait_seconds)
        raise ServiceUnavailable(f"{self.url} took no request in {_ATTEMPTS} attempts: {reason}")

    def _once(self, method: str, path: str, data: bytes | None) -> tuple[Answer, float]:
        parts = urlsplit(self.url)
        headers = {"Accept": "application/json", **self.headers}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}{path}"
        with self._open(Request(url, data, headers, method=method)) as response:
            text = response.read().decode(errors="replace")
            said = _pointer(response) or text[:_MOST_SAID]
            answer = Answer(response.status, _parse_json(text), said)
            return answer, _seconds(response.headers.get("Retry-After"))

    def _open(self, request: Request) -> HTTPResponse:
        """The response, whatever its status; a proxy of the environment is used, except for this machine."""
        proxies = ProxyHandler({} if urlsplit(self.url).hostname in _THIS_MACHINE else None)
        opener = build_opener(proxies, HTTPSHandler(context=ssl.create_default_context()), _AnyStatus())
        response: HTTPResponse = opener.open(request, timeout=_TIMEOUT_SECONDS)
        return response


class _AnyStatus(HTTPErrorProcessor):
    """Takes every response as it is, and follows nothing: a token is not sent where a catalog points."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:  # noqa: ARG002 - urllib's name
        """The response itself."""
        return response

    https_response = http_response


def _pointer(response: HTTPResponse) -> str | None:
    """The error of a redirect, which is not followed; None for any other response."""
    address = response.headers.get("Location")
    is_redirect = HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST
    return f"it points to {address}, which is not followed" if is_redirect and address else None


def _reason(error: Exception) -> str:
    """The reason for a failure, without the exception that urllib wraps around it."""
    inner = getattr(error, "reason", error)
    return str(getattr(inner, "strerror", None) or inner or type(inner).__name__)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isascii() and text.isdecimal() else 0.0
