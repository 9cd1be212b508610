"""Messages in the bodies of HTTP/1.1 requests, as clients of a metastore in HTTP mode send them.

Requests are POSTs to any path with the content type of Thrift. Browsers send that type to another origin only after a
preflight request, which is refused. A page whose own name is pointed at the server (DNS rebinding) needs none, so that
a request with a header of browsers is refused too: no web page can reach a metastore. The header x-actor-username names
the user, as Hive's clients send it. A request without the header has no user, even if an earlier request of the
connection had one: proxies share connections. Where users are proven, the header Authorization has the proof, and
reading stops after the headers until it is checked.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus

import h11

from hmstats import tracing
from hmstats.errors import MessageTooLarge, MessageTooSlow, NotAuthenticated, ProtocolError
from hmstats.server.authentication.credentials import Credential, credential_of
from hmstats.server.messages.encodings import Encoding, Recognise, encoding_of
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import Session
from hmstats.wire.messages.allowance import Allowance
from hmstats.wire.messages.envelope import Pieces

_TYPES = (b"application/x-thrift", b"application/vnd.apache.thrift.")
_TEXT = b"text/plain; charset=utf-8"
_USER_HEADER = b"x-actor-username"
_PROOF_HEADER = b"authorization"
_HEADERS_OF_BROWSERS = {b"origin": "Origin", b"sec-fetch-site": "Sec-Fetch-Site"}
"""Headers of every POST of a browser, or of those to a host that it trusts; scripts cannot leave them out."""
_QUOTED = re.compile(r": (bytearray\()?b['\"].*", re.DOTALL)
"""What h11's errors quote of a request: the line may hold a secret."""
_EVENTS_AT_ONCE = 200
"""Events of h11 that are read in one turn; each takes some 20 microseconds."""
_FREE_CHUNKS, _LEAST_CHUNK_BYTES = 1_000, 64
_Headers = list[tuple[bytes, bytes]]


class HttpProtocol:
    """HTTP/1.1 on a connection that may carry many requests."""

    streams = False

    def __init__(self, recognise: Recognise, allowance: Allowance, *, authenticates: bool = False) -> None:
        """`recognise` recognises requests that need no scan for their end; `authenticates` stops after the headers."""
        self._authenticates = authenticates
        self._recognise = recognise
        self._allowance = allowance
        self._http = h11.Connection(h11.SERVER)
        self._refusal_status = HTTPStatus.BAD_REQUEST
        self._type = _TYPES[0]
        self._begin()

    @property
    def begun(self) -> bool:
        """Whether h11 holds a part of the next request: its head, or the beginning of its body."""
        return self._http.their_state is h11.SEND_BODY or bool(self._http.trailing_data[0])

    @property
    def held_bytes(self) -> int:
        """Bytes that h11 buffers, of the body, and of the encoding."""
        waiting = len(self._http.trailing_data[0])
        return waiting + len(self._body) + (self._encoding.held_bytes if self._encoding is not None else 0)

    @property
    def unread(self) -> bool:
        """Whether `take_request` stopped after _EVENTS_AT_ONCE events, or the encoding has more to read."""
        return self._unread or (self._encoding is not None and self._encoding.unread)

    @property
    def ends(self) -> bool:
        """Whether HTTP allows no other request on the connection."""
        return self._http.our_state is not h11.DONE

    @property
    def encodes_at_once(self) -> bool:
        """Whether the encoding of the request takes constant time."""
        return self._encoding is not None and self._encoding.encodes_at_once

    def accept_proof(self) -> None:
        """Go on with the request after its headers."""
        self.awaits_proof = False

    def take_request(self, inbox: bytearray) -> Request | None:
        """Pass the inbox to h11; return the body once it is a whole request, None until then.

        Raises ProtocolError for invalid HTTP, another method or content type, and a body that is not one request.
        """
        if self._http.our_state is self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._begin()
        try:
            if inbox:
                self._http.receive_data(bytes(inbox))
                inbox.clear()
            return self._read()
        except h11.RemoteProtocolError as error:
            self._refusal_status = HTTPStatus(error.error_status_hint)
            raise ProtocolError(f"HTTP: {_QUOTED.sub('', str(error))}") from None

    def message(self, data: bytes) -> bytes | None:  # noqa: ARG002 - headers are to be read first
        """Always None: the headers must be read before a request is compared."""
        return None

    def identify(self, session: Session) -> None:
        """Tell the session the user of the x-actor-username header, or that there is none."""
        session.identify(self._user)

    def encode(self, reply: Pieces | None) -> Pieces | None:
        """The reply in the encoding of the request; None for None."""
        return None if reply is None or self._encoding is None else self._encoding.encode(reply)

    def wrap(self, reply: Pieces | None) -> Pieces:
        """An HTTP response with status 200; its body is empty if the client expects no reply."""
        return self._respond(HTTPStatus.OK, self._type, reply or (), [])

    def reject(self, error: ProtocolError) -> Pieces:
        """An HTTP response with the error's status and text, then the end of the connection.

        Nothing if a response has begun already.
        """
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return ()
        if isinstance(error, MessageTooLarge):
            self._refusal_status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        if isinstance(error, MessageTooSlow):
            self._refusal_status = HTTPStatus.REQUEST_TIMEOUT
        challenges: _Headers = []
        if isinstance(error, NotAuthenticated):
            self._refusal_status = HTTPStatus.UNAUTHORIZED
            challenges = [(b"WWW-Authenticate", f'{each} realm="hmstats"'.encode()) for each in error.schemes]
        allowed = [(b"Allow", b"POST")] if self._refusal_status is HTTPStatus.METHOD_NOT_ALLOWED else []
        headers = [(b"Connection", b"close"), *allowed, *challenges]
        return self._respond(self._refusal_status, _TEXT, (f"{error}\n".encode(),), headers)

    def _begin(self) -> None:
        """Resets the state of one request."""
        self._user: str | None = None
        self._carrier: tracing.Carrier | None = None
        self.awaits_proof = False
        """Whether the headers of a request were read, and the rest is read after its user is proven."""
        self.credential: Credential | None = None
        """The proof of the user in the headers; None without one."""
        self._encoding: Encoding | None = None
        self._body = bytearray()
        self._request: Request | None = None
        self._chunks = self._chunk_bytes = 0
        self._unread = False

    def _read(self) -> Request | None:
        self._unread = False
        if self._encoding is not None and self._encoding.unread:
            self._take_from_body()
        for _ in range(_EVENTS_AT_ONCE):
            if self.unread or self.awaits_proof:
                return None
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                self._check(event)
            elif isinstance(event, h11.Data):
                self._check_chunk(event)
                self._take_body(event.data)
            elif isinstance(event, h11.EndOfMessage):
                if self._request is None:
                    raise ProtocolError("the body must hold one whole request, found a part of one")
                self._request.carrier = self._carrier
                return self._request
            else:
                return None
        self._unread = True
        return None

    def _check_chunk(self, data: h11.Data) -> None:
        """Raises ProtocolError if chunks are tiny on average: a chunk takes as long to read as hundreds of bytes."""
        self._chunk_bytes += len(data.data)
        self._chunks += data.chunk_start
        if self._chunks > _FREE_CHUNKS and self._chunk_bytes < self._chunks * _LEAST_CHUNK_BYTES:
            raise ProtocolError(
                f"the chunks of a body must have {_LEAST_CHUNK_BYTES} bytes on average, "
                f"found {self._chunks} chunks of {self._chunk_bytes} bytes together"
            )

    def _check(self, request: h11.Request) -> None:
        headers = dict(request.headers)
        self._type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if user := headers.get(_USER_HEADER):
            self._user = user.decode("latin-1")
        if tracing.is_on():
            named = {name: headers.get(name.encode()) for name in tracing.HEADERS}
            self._carrier = {name: value.decode("latin-1") for name, value in named.items() if value is not None}
        if {b"content-length", b"transfer-encoding"} <= headers.keys():
            # A proxy in front may believe the other of them, and see another end of the request.
            raise ProtocolError("a request must have a length or chunks, found Content-Length and Transfer-Encoding")
        self._refuse_browsers(headers)
        if request.method != b"POST":
            self._refusal_status = HTTPStatus.METHOD_NOT_ALLOWED
            raise ProtocolError(f"a request must be a POST, found {request.method.decode()}")
        if not self._type.startswith(_TYPES):
            self._refusal_status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
            raise ProtocolError(f"the content type must be application/x-thrift, found {self._type.decode('latin-1')}")
        if headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
            # A few bytes of a compressed body can become gigabytes.
            self._refusal_status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
            raise ProtocolError("a request's body must not be compressed, found a content encoding")
        if self._authenticates:
            self._expect_proof(request)

    def _refuse_browsers(self, headers: Mapping[bytes, bytes]) -> None:
        for key, name in _HEADERS_OF_BROWSERS.items():
            if key in headers:
                self._refusal_status = HTTPStatus.FORBIDDEN
                raise ProtocolError(f"a metastore is for no page in a browser, found the header {name}")

    def _expect_proof(self, request: h11.Request) -> None:
        self.awaits_proof = True
        proofs = [value for name, value in request.headers if name == _PROOF_HEADER]
        if len(proofs) > 1:
            raise NotAuthenticated(f"a request must have one header Authorization, found {len(proofs)}")
        self.credential = credential_of(proofs[0]) if proofs else None

    def _take_body(self, data: bytes) -> None:
        self._body += data
        if self._encoding is None:
            self._encoding = encoding_of(self._body[0], self._allowance, self._recognise)
        self._take_from_body()

    def _take_from_body(self) -> None:
        if self._request is None and self._encoding is not None:
            self._request = self._encoding.take_request(self._body)
        if self._request is not None and self._body:
            raise ProtocolError("the body must hold one whole request, found more")

    def _respond(self, status: HTTPStatus, kind: bytes, body: Pieces, headers: _Headers) -> Pieces:
        size = str(sum(map(len, body))).encode()
        all_headers = [(b"Content-Type", kind), (b"Content-Length", size), *headers]
        response = h11.Response(status_code=status, headers=all_headers, reason=status.phrase.encode())
        events = (response, *(h11.Data(data=piece) for piece in body), h11.EndOfMessage())
        return [piece for each in events if (piece := self._http.send(each))]
