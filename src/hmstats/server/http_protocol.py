"""Messages in the bodies of HTTP/1.1 requests, as clients of a metastore in HTTP mode send them.

POST to any path, with the content type of Thrift: browsers send that to a foreign server only after they asked, which
is refused, so that no page can speak to a metastore. The header x-actor-username says who calls, as Hive's clients do.
"""

from http import HTTPStatus

import h11

from hmstats.errors import MessageTooLarge, ProtocolError
from hmstats.server.dispatch import Dispatcher, KeptReply, Repeated
from hmstats.server.encodings import Encoding, encoding_of
from hmstats.server.messages import Pieces
from hmstats.server.session import Session

_TYPES = (b"application/x-thrift", b"application/vnd.apache.thrift.")
_TEXT = b"text/plain; charset=utf-8"
_USER_HEADER = b"x-actor-username"
_Headers = list[tuple[bytes, bytes]]


class HttpProtocol:
    """HTTP on a connection that may be kept for many requests."""

    def __init__(self, dispatcher: Dispatcher, max_message_bytes: int) -> None:
        self._dispatcher = dispatcher
        self._max_message_bytes = max_message_bytes
        self._http = h11.Connection(h11.SERVER)
        self._refused = HTTPStatus.BAD_REQUEST
        self._type = _TYPES[0]
        self._user: str | None = None
        self._begin()

    @property
    def begun(self) -> bool:
        """See WireProtocol."""
        return self._http.their_state is h11.SEND_BODY or bool(self._http.trailing_data[0])

    @property
    def ends(self) -> bool:
        """See WireProtocol."""
        return self._http.our_state is not h11.DONE

    def take(self, inbox: bytearray) -> bytes | None:
        """See WireProtocol."""
        if self._http.our_state is self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._begin()
        try:
            if inbox:
                self._http.receive_data(bytes(inbox))
                inbox.clear()
            return self._read()
        except h11.RemoteProtocolError as error:
            self._refused = HTTPStatus(error.error_status_hint)
            raise ProtocolError(f"HTTP: {error}") from error
        except MessageTooLarge:
            self._refused = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            raise

    def answer(self, request: bytes, session: Session) -> Pieces | None:
        """See WireProtocol."""
        if self._user is not None:
            session.user = self._user
        return self._encoded(_alone(self._dispatcher.answer(request, session)))

    def repeated(self, data: bytes, session: Session) -> Repeated | None:  # noqa: ARG002 - headers are to be read first
        """See WireProtocol."""
        return None

    def kept(self, request: bytes, session: Session) -> KeptReply | None:
        """See WireProtocol."""
        return self._dispatcher.kept(request, session)

    def confirmed(self, reply: KeptReply) -> Pieces:
        """See WireProtocol."""
        return self._encoded(self._dispatcher.confirmed(reply)) or ()

    def refuse(self, request: bytes, session: Session, sentence: str) -> Pieces | None:
        """See WireProtocol."""
        return self._encoded(_alone(self._dispatcher.refuse(request, session, sentence)))

    def wrap(self, reply: Pieces | None) -> Pieces:
        """See WireProtocol. A client that waits for no reply still waits for the end of its request."""
        return self._respond(HTTPStatus.OK, self._type, reply or (), [])

    def reject(self, error: ProtocolError) -> Pieces:
        """See WireProtocol."""
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return ()
        allowed = [(b"Allow", b"POST")] if self._refused is HTTPStatus.METHOD_NOT_ALLOWED else []
        headers = [(b"Connection", b"close"), *allowed]
        return self._respond(self._refused, _TEXT, (f"{error}\n".encode(),), headers)

    def _begin(self) -> None:
        """Sets back what belongs to one request."""
        self._encoding: Encoding | None = None
        self._body = bytearray()
        self._request: bytes | None = None

    def _read(self) -> bytes | None:
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                self._check(event)
            elif isinstance(event, h11.Data):
                self._take_body(event.data)
            elif isinstance(event, h11.EndOfMessage):
                if self._request is None:
                    raise ProtocolError("the body must hold one whole request, found a part of one")
                return self._request
            else:
                return None

    def _check(self, request: h11.Request) -> None:
        headers = dict(request.headers)
        self._type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if user := headers.get(_USER_HEADER):
            self._user = user.decode("latin-1")
        if request.method != b"POST":
            self._refused = HTTPStatus.METHOD_NOT_ALLOWED
            raise ProtocolError(f"a request must be a POST, found {request.method.decode()}")
        if not self._type.startswith(_TYPES):
            self._refused = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
            raise ProtocolError(f"the content type must be application/x-thrift, found {self._type.decode('latin-1')}")

    def _take_body(self, data: bytes) -> None:
        self._body += data
        if self._encoding is None:
            self._encoding = encoding_of(self._body[0], self._max_message_bytes, self._dispatcher.knows)
        if self._request is None:
            self._request = self._encoding.take(self._body)
        if self._request is not None and self._body:
            raise ProtocolError("the body must hold one whole request, found more")

    def _encoded(self, reply: Pieces | None) -> Pieces | None:
        return None if reply is None or self._encoding is None else self._encoding.encode(reply)

    def _respond(self, status: HTTPStatus, kind: bytes, body: Pieces, headers: _Headers) -> Pieces:
        size = str(sum(map(len, body))).encode()
        given = [(b"Content-Type", kind), (b"Content-Length", size), *headers]
        response = h11.Response(status_code=status, headers=given, reason=status.phrase.encode())
        events = (response, *(h11.Data(data=piece) for piece in body), h11.EndOfMessage())
        return [piece for each in events if (piece := self._http.send(each))]


def _alone(reply: bytes | None) -> Pieces | None:
    return None if reply is None else (reply,)
