"""Requests to a catalog by plain HTTP, retried when the catalog is away or busy."""

import http.client
import json
import random
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from hmstats.errors import ServiceUnavailable, SettingsError

_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_ATTEMPTS = 5
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_TIMEOUT_SECONDS = 30.0
_MOST_SAID = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """What a catalog answered: its status, and its body, an object if it is JSON."""

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
        if self.token and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
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
            except (OSError, http.client.HTTPException) as error:
                reason = str(getattr(error, "strerror", None) or error or type(error).__name__)
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
        host, port = parts.hostname or "", parts.port
        if parts.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=_TIMEOUT_SECONDS, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS)
        headers = {"Accept": "application/json", **self.headers}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request(method, f"{parts.path.rstrip('/')}{path}", data, headers)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
            return Answer(response.status, _parse_json(text), text[:_MOST_SAID]), _seconds(
                response.getheader("Retry-After")
            )
        finally:
            connection.close()


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isascii() and text.isdecimal() else 0.0
