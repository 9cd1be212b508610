"""Delegation tokens in the form of Hadoop's clients.

A token is URL-safe base64, without padding, of identifier, password, kind and service, each after its length. Lengths
and numbers are those of org.apache.hadoop.io.WritableUtils: -112 to 127 is one byte; else the first byte says sign and
length of what follows, big-endian. The identifier is that of AbstractDelegationTokenIdentifier.
"""

import base64
import binascii

from hmstats.errors import InvalidInput
from hmstats.model.access.delegation_token import DelegationToken

_KIND = b"HIVE_DELEGATION_TOKEN"
_VERSION = 0
_NO_KEY = 0
"""The number of the key that signs the token: none does."""
_LARGEST_NUMBER = 2**31 - 1
_MOST_CHARACTERS = 16 * 1024
_WRONG = "a delegation token must have the form that this metastore gives, found another"


def token_text(identifier: bytes, password: bytes) -> str:
    """The text of a token, without a service."""
    data = b"".join(map(_with_length, (identifier, password, _KIND, b"")))
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read_token(text: str) -> tuple[bytes, bytes]:
    """Identifier and password of a token; kind and service are not looked at. Raises InvalidInput."""
    if len(text) > _MOST_CHARACTERS:
        raise InvalidInput(_WRONG)
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise InvalidInput(_WRONG) from None
    reader = _Reader(data)
    return reader.read_data(), reader.read_data()


def identifier_of(token: DelegationToken) -> bytes:
    """The identifier of a token."""
    users = (_with_length(name.encode()) for name in (token.owner, token.renewer, token.real_user))
    numbers = map(_encode_number, (token.issued_ms, token.ends_ms, token.number, _NO_KEY))
    return bytes((_VERSION,)) + b"".join((*users, *numbers))


def token_of(identifier: bytes) -> DelegationToken:
    """The token of an identifier. Raises InvalidInput unless `identifier_of` may have made it."""
    reader = _Reader(identifier[1:])
    owner, renewer, real_user = reader.read_text(), reader.read_text(), reader.read_text()
    issued_ms, ends_ms, number = reader.read_number(), reader.read_number(), reader.read_number()
    token = DelegationToken(number, owner, renewer, real_user, issued_ms, ends_ms)
    if not 0 <= number <= _LARGEST_NUMBER or identifier_of(token) != identifier:
        raise InvalidInput(_WRONG)
    return token


class _Reader:
    """Reads values from bytes that others have sent; each raises InvalidInput when the bytes do not fit."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def read_number(self) -> int:
        """The next number: one byte, or its sign and length in a byte and then its bytes."""
        first = int.from_bytes(self._read(1), signed=True)
        if first >= -112:
            return first
        negative = first < -120
        value = int.from_bytes(self._read(-(first + 120) if negative else -(first + 112)))
        return ~value if negative else value

    def read_data(self) -> bytes:
        """The next bytes, which have their length before them."""
        return self._read(self.read_number())

    def read_text(self) -> str:
        """The next text, in UTF-8 after its length."""
        try:
            return self.read_data().decode()
        except UnicodeDecodeError:
            raise InvalidInput(_WRONG) from None

    def _read(self, count: int) -> bytes:
        end = self._at + count
        if not self._at <= end <= len(self._data):
            raise InvalidInput(_WRONG)
        taken = self._data[self._at : end]
        self._at = end
        return taken


def _with_length(data: bytes) -> bytes:
    return _encode_number(len(data)) + data


def _encode_number(value: int) -> bytes:
    if -112 <= value <= 127:
        return value.to_bytes(1, signed=True)
    first, size = (-120, ~value) if value < 0 else (-112, value)
    body = size.to_bytes((size.bit_length() + 7) // 8)
    return (first - len(body)).to_bytes(1, signed=True) + body
