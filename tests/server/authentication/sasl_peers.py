"""A client of Thrift over SASL, byte for byte."""

import contextlib
import ssl
import struct
from collections.abc import Callable
from typing import Any

from tests.server.authentication.peers import CALL, received, said
from tests.server.requests import reply_of
from tests.server.serving import Address, Client
from thriftpy2.transport import TTransportException

from hmstats.wire.sasl_messages import Message, Status, framed

Unwrap = Callable[[bytes], bytes]
Context = ssl.SSLContext | None


class SaslClient(Client):
    """A client that has sent nothing yet."""

    def say(self, status: int, payload: bytes = b"") -> None:
        """Send one message of the negotiation."""
        self.send(Message(status, payload).encoded)

    def hear(self) -> Message:
        """The server's next message."""
        status, size = struct.unpack(">BI", received(self, 5))
        return Message(status, received(self, size))

    def data(self) -> bytes:
        """The data of the server's next frame."""
        (size,) = struct.unpack(">I", received(self, 4))
        return received(self, size)

    def call(self, message: bytes = CALL, wrap: Unwrap = bytes, unwrap: Unwrap = bytes) -> Any:
        """What a call in one frame is answered with, which may come in many."""
        self.send(framed(wrap(message)))
        answer = unwrap(self.data())
        while True:
            with contextlib.suppress(TTransportException):
                return reply_of([answer]).content
            answer += unwrap(self.data())

    def refused(self) -> str:
        """The sentence of a refusal, behind which the connection ends."""
        message = self.hear()
        assert message.status in (Status.BAD, Status.ERROR), message
        assert self.at_end()
        return message.payload.decode()


def ask_plain(address: Address, context: Context = None, user: str = "alice", password: str = "right") -> str:
    """What a client by PLAIN gets: the answer to a call, or the sentence of its refusal."""
    with SaslClient(address, context) as client:
        client.say(Status.START, b"PLAIN")
        client.say(Status.COMPLETE, f"\0{user}\0{password}".encode())
        message = client.hear()
        if message.status != Status.COMPLETE:
            assert client.at_end()
            return message.payload.decode()
        return said(client.call())
