"""The entry of every request: the user that it proves, a connection as that user, and the right to change something."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl

from starlette.requests import Request

from hmstats.client import Metastore
from hmstats.errors import StatementError
from hmstats.web.callers import Callers
from hmstats.web.metastores import Metastores
from hmstats.web.problems import Forbidden

MOST_BODY_BYTES = 65_536


class Admission:
    """Admits requests: reads the proof of the user, lends a connection as that user, and refuses forbidden changes."""

    def __init__(self, metastores: Metastores, callers: Callers, *, writes: bool = False) -> None:
        self._metastores = metastores
        self._callers = callers
        self.writes = writes
        """Whether the page takes changes."""

    @contextmanager
    def service(self, request: Request) -> Iterator[Metastore]:
        """The metastore, asked as the user of the request."""
        with self._metastores.connection(self._callers.proof(request)) as found:
            yield found

    def require_writes(self) -> None:
        """Raises Forbidden unless the page takes changes."""
        if not self.writes:
            raise Forbidden("the page only reads: changes need the setting web_writes")

    def token(self, request: Request) -> str:
        """The token of the forms on a page."""
        return self._callers.token(self._callers.proof(request))

    async def body(self, request: Request, most_bytes: int = MOST_BODY_BYTES) -> bytes:
        """The body of a change. Raises StatementError for one that is too large."""
        found = bytearray()
        async for piece in request.stream():
            found += piece
            if len(found) > most_bytes:
                raise StatementError(f"the body of a change must have at most {most_bytes:,} bytes")
        return bytes(found)

    def form(self, request: Request, body: bytes) -> dict[str, str]:
        """The filled fields of a form. Raises Forbidden for a form that this page did not give to this user."""
        self.require_writes()
        try:
            fields = dict(parse_qsl(body.decode(), max_num_fields=20))
        except ValueError as error:
            raise StatementError(f"the body is no form: {error}") from error
        if not self._callers.is_token(self._callers.proof(request), fields.pop("token", "")):
            raise Forbidden("the form is not of this page, or the page was started anew: open it again")
        return fields
