"""Protection against changes behind DIGEST-MD5, qop auth-int (RFC 2831, section 2.3): data, its MAC, type and number.

There is no encryption: that of RFC 2831 is RC4 and DES, which protect nobody today.
"""

import hashlib
import hmac

_MAC_BYTES = 10
_TYPE = b"\0\1"
_NUMBER_BYTES = 4
TRAILER_BYTES = _MAC_BYTES + len(_TYPE) + _NUMBER_BYTES
_NUMBERS = 2**32


class IntegritySeal:
    """Signs what is sent, and checks what comes, by keys that client and server have made of the token's secret."""

    def __init__(self, session_hash: bytes, peer_bytes: int, *, of_server: bool = True) -> None:
        """`peer_bytes` is the largest protected message that the other side takes."""
        self.piece_bytes = peer_bytes - TRAILER_BYTES
        server, client = (_key(session_hash, way) for way in (b"server-to-client", b"client-to-server"))
        self._ours, self._theirs = (server, client) if of_server else (client, server)
        self._sent = 0
        self._received = 0

    def wrap(self, data: bytes) -> bytes:
        """Data with its trailer."""
        number = self._sent.to_bytes(_NUMBER_BYTES)
        self._sent = (self._sent + 1) % _NUMBERS
        return data + _mac(self._ours, number, data) + _TYPE + number

    def unwrap(self, data: bytes) -> bytes:
        """The data before a trailer. Raises ConnectionError if it was changed, left out, or sent a second time."""
        number = self._received.to_bytes(_NUMBER_BYTES)
        found, trailer = data[:-TRAILER_BYTES], data[-TRAILER_BYTES:]
        if not hmac.compare_digest(trailer, _mac(self._theirs, number, found) + _TYPE + number):
            raise ConnectionError("a message behind DIGEST-MD5 was changed on its way")
        self._received = (self._received + 1) % _NUMBERS
        return found


def _key(session_hash: bytes, way: bytes) -> bytes:
    constant = b"Digest session key to " + way + b" signing key magic constant"
    return hashlib.md5(session_hash + constant, usedforsecurity=False).digest()


def _mac(key: bytes, number: bytes, data: bytes) -> bytes:
    return hmac.new(key, number + data, "md5").digest()[:_MAC_BYTES]
