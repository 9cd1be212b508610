"""A non-blocking socket behind a SASL negotiation, used in the place of the one below it.

Below is a plain socket or TLS; above, requests and replies go through frames, which are protected if client and server
have agreed so. One lock guards what protects them, since workers write while the selector's thread reads.
"""

import math
import socket
import threading
from collections.abc import Sequence

from hmstats.errors import MessageTooLarge, NotAuthenticated, ProtocolError
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.sasl import Conversation, Seal
from hmstats.server.layers.tls_socket import TlsSocket
from hmstats.wire.sasl_messages import Frames, Message, Status, framed, take_message

_MOST_ROUNDS = 10
"""Responses of a client; Kerberos takes three."""
_PIECE_BYTES = 1024 * 1024
"""Bytes of a reply in one frame: newer clients of Thrift refuse frames of more than 16 MB."""
_PROTECTION_BYTES = 4 * 1024
"""The most bytes that protection adds to the largest request."""
_AT_ONCE_BYTES = 256 * 1024
"""The largest protected frame that is opened in the selector's thread, where it takes some milliseconds."""


class SaslSocket:
    """The server's side of SASL on a socket, which stays non-blocking.

    `recv` and `sendmsg` behave as those of a socket. Bytes that `sendmsg` has not counted must be given to it again.
    """

    def __init__(self, below: socket.socket | TlsSocket, conversation: Conversation, max_message_bytes: int) -> None:
        self._below = below
        self._conversation = conversation
        self._max_message_bytes = max_message_bytes
        self._inbox = bytearray()
        self._rounds = 0
        self._seal: Seal | None = None
        self._frames = Frames(max_message_bytes, whole=False)
        self._piece_bytes = _PIECE_BYTES
        self._large: list[bytes] = []
        """Frames that a thread is to open, of which the first is beyond _AT_ONCE_BYTES."""
        self._lock = threading.Lock()
        self._unsent = memoryview(b"")
        """Bytes of a frame that the socket below has not taken."""
        self._ahead = 0
        """Bytes in that frame that were not counted yet."""

    def fileno(self) -> int:
        """The file descriptor of the socket."""
        return self._below.fileno()

    @property
    def principal(self) -> Principal:
        """The proven user, as soon as the negotiation is complete."""
        return self._conversation.principal

    @property
    def held_bytes(self) -> int:
        """Memory in bytes of a frame that has come in part."""
        return self._frames.held_bytes + sum(map(len, self._large))

    @property
    def has_large(self) -> bool:
        """Whether `open_large` must be called before anything else is received."""
        return bool(self._large)

    def shake_hands(self, data: bytes) -> bool:
        """Pass received bytes to the negotiation and send its answers; whether the negotiation is complete.

        Raises NotAuthenticated and ProtocolError for the client, which `refusal` makes a message of; OSError.
        """
        self._inbox += data
        while (message := take_message(self._inbox)) is not None:
            if self._answer_message(message):
                return True
        return False

    def decrypted(self) -> bytes:
        """The requests that have arrived behind the negotiation. Raises OSError."""
        behind = bytes(self._inbox)
        self._inbox.clear()
        return self._open_frames(behind)

    def recv(self, size: int) -> bytes:
        """The bytes that have arrived; empty at the end. Raises BlockingIOError if there are none yet, OSError.

        There are none yet too if they are in a large frame.
        """
        if self._conversation.ended:
            raise ConnectionError("the proof of the client's user counts no more")
        data = self._below.recv(size)
        if not data:
            return b""
        requests = self._open_frames(data, at_once=_AT_ONCE_BYTES)
        if not requests:
            raise BlockingIOError
        return requests

    def sendmsg(self, pieces: Sequence[bytes | memoryview]) -> int:
        """Send as much as the socket takes at once; returns how many bytes in whole frames were. Raises OSError."""
        joined = memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        sent = 0
        while True:
            with self._lock:
                if not self._flush():
                    return sent
                sent, self._ahead = sent + self._ahead, 0
                if sent == len(joined):
                    return sent
                piece = joined[sent : sent + self._piece_bytes]
                self._unsent = memoryview(framed(piece if self._seal is None else self._seal.wrap(bytes(piece))))
                self._ahead = len(piece)

    def shutdown(self, how: int) -> None:
        """Tell the client that no more is sent."""
        self._below.shutdown(how)

    def close(self) -> None:
        """Close the socket."""
        self._below.close()

    def _answer_message(self, message: Message) -> bool:
        """Answers a message of the client; whether it was the last one."""
        self._rounds += 1
        if self._rounds > _MOST_ROUNDS:
            raise ProtocolError(f"a SASL negotiation may have {_MOST_ROUNDS} responses, found more")
        if message.status not in (Status.OK, Status.COMPLETE):
            raise ProtocolError(f"a SASL response must have the status 2 or 5, found {message.status}")
        challenge = self._conversation.step(message.payload)
        if challenge is not None:
            self._send(Message(Status.OK, challenge))
            return False
        self._seal = self._conversation.seal
        if self._seal is not None:
            self._frames = Frames(self._max_message_bytes + _PROTECTION_BYTES, whole=True)
            self._piece_bytes = min(_PIECE_BYTES, self._seal.piece_bytes)
        self._send(Message(Status.COMPLETE, self._conversation.success))
        return True

    def _send(self, message: Message) -> None:
        self._unsent = memoryview(message.encoded)
        if not self._flush():
            raise ConnectionError("the client does not take the server's part of the negotiation")

    def open_large(self) -> bytes:
        """The bytes in large frames, in a thread that may take long. Raises OSError."""
        assert self._seal is not None
        with self._lock:
            opened = b"".join(map(self._seal.unwrap, self._large))
        self._large = []
        return opened

    def _open_frames(self, data: bytes, at_once: float = math.inf) -> bytes:
        """The requests' bytes in received ones; frames from the first that is larger than `at_once` on are left.

        Raises OSError for a frame that is beyond the limit or was changed.
        """
        try:
            frames = list(self._frames.put(data))
        except MessageTooLarge as error:
            raise ConnectionError(str(error)) from error
        if self._seal is None:
            return b"".join(frames)
        if any(len(each) > at_once for each in frames):
            self._large = frames
            return b""
        with self._lock:
            return b"".join(map(self._seal.unwrap, frames))

    def _flush(self) -> bool:
        """Sends the rest of the current frame; whether the socket below has taken all of it."""
        while self._unsent:
            try:
                sent = self._below.sendmsg((self._unsent,))
            except BlockingIOError:
                return False
            if not sent:
                return False
            self._unsent = self._unsent[sent:]
        return True


def refusal(error: ProtocolError) -> bytes:
    """The message that ends a negotiation; clients show its sentence."""
    status = Status.BAD if isinstance(error, NotAuthenticated) else Status.ERROR
    return Message(status, str(error).encode()).encoded
