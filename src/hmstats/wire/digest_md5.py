"""The mechanism DIGEST-MD5 of SASL (RFC 2831): its challenge, its response, and what proves a password.

MD5 is weak (RFC 6331), so that it is for passwords that are long random numbers. Names are of ASCII.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hmstats.errors import NotAuthenticated

_MOST_BYTES = 4_096
"""The longest response (RFC 2831, section 2.1.2)."""
_DIRECTIVE = re.compile(
    r"[ \t\r\n]*([a-z0-9-]{1,20})[ \t\r\n]*=[ \t\r\n]*"
    r'(?:"([^"\\]*+(?:\\.[^"\\]*+)*)"|([^ \t\r\n",]+))'
)
_SEPARATOR = re.compile(r"[ \t\r\n]*,[ \t\r\n,]*")
_QUOTED = re.compile(r"\\(.)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_LEAST_BYTES = 1_024
_NO_BODY = ":" + 32 * "0"
DEFAULT_BYTES, MOST_BYTES = 65_536, 0xFFFFFF
"""The largest protected message of a side that names none, and that a side can name (RFC 2831, section 2.1.1)."""
FIRST = "00000001"
"""The count of a response to a new challenge."""


@dataclass(frozen=True, slots=True)
class Response:
    """A client's answer to a challenge; an absent text is empty."""

    username: str
    realm: str
    nonce: str
    count: str
    cnonce: str
    protection: str
    uri: str
    proof: str
    acts_as: str | None
    client_bytes: int = DEFAULT_BYTES
    """The largest protected message that the client takes."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A server's challenge."""

    realm: str
    nonce: str
    protections: tuple[str, ...]
    server_bytes: int = DEFAULT_BYTES
    """The largest protected message that the server takes."""


def challenge(realm: str, nonce: str, protections: Sequence[str]) -> bytes:
    """The server's challenge; `protections` are values of qop."""
    offered = ",".join(protections)
    most = "" if protections == ("auth",) else f",maxbuf={MOST_BYTES}"
    return f'realm="{realm}",nonce="{nonce}",qop="{offered}"{most},charset=utf-8,algorithm=md5-sess'.encode()


def read_challenge(data: bytes) -> Challenge:
    """The challenge in a server's bytes. Raises NotAuthenticated."""
    found = _directives(data)
    if not found.get("nonce") or found.get("algorithm") != "md5-sess":
        raise NotAuthenticated("a challenge of DIGEST-MD5 must have a nonce and the algorithm md5-sess, found another")
    protections = tuple(each.strip() for each in found.get("qop", "auth").split(","))
    server_bytes = _bytes(found.get("maxbuf", str(DEFAULT_BYTES)))
    return Challenge(found.get("realm", ""), found["nonce"], protections, server_bytes)


def response_text(response: Response) -> bytes:
    """The bytes of a response."""
    return (
        f'charset=utf-8,username="{response.username}",realm="{response.realm}",nonce="{response.nonce}",'
        f'nc={response.count},cnonce="{response.cnonce}",digest-uri="{response.uri}",maxbuf={response.client_bytes},'
        f"response={response.proof},qop={response.protection}"
    ).encode()


def read_response(data: bytes) -> Response:
    """The response in a client's bytes. Raises NotAuthenticated, without a word of them."""
    if len(data) > _MOST_BYTES:
        raise NotAuthenticated(f"a response of DIGEST-MD5 may have {_MOST_BYTES} bytes, found {len(data)}")
    found = _directives(data)
    missing = [name for name in ("username", "nonce", "nc", "cnonce", "digest-uri", "response") if not found.get(name)]
    if missing:
        raise NotAuthenticated(f"a response of DIGEST-MD5 must have {', '.join(missing)}, found none")
    return Response(
        username=found["username"],
        realm=found.get("realm", ""),
        nonce=found["nonce"],
        count=found["nc"],
        cnonce=found["cnonce"],
        protection=found.get("qop", "auth"),
        uri=found["digest-uri"],
        proof=found["response"],
        acts_as=found.get("authzid"),
        client_bytes=_bytes(found.get("maxbuf", str(DEFAULT_BYTES))),
    )


def session_hash(response: Response, password: str) -> bytes:
    """The hash of A1, from which proofs and keys are made."""
    secret = _md5(f"{response.username}:{response.realm}:{password}".encode())
    acts_as = "" if response.acts_as is None else f":{response.acts_as}"
    return _md5(secret + f":{response.nonce}:{response.cnonce}{acts_as}".encode())


def proof(response: Response, password: str, *, of_server: bool = False) -> str:
    """The 32 hexadecimal digits that prove a password, for the client's response or for the server's answer."""
    body = "" if response.protection == "auth" else _NO_BODY
    asked = ("" if of_server else "AUTHENTICATE") + f":{response.uri}{body}"
    parts = (
        session_hash(response, password).hex(),
        response.nonce,
        response.count,
        response.cnonce,
        response.protection,
        _md5(asked.encode()).hex(),
    )
    return _md5(":".join(parts).encode()).hex()


def _bytes(text: str) -> int:
    found = int(text) if _NUMBER.fullmatch(text) else 0
    if not _LEAST_BYTES <= found <= MOST_BYTES:
        raise NotAuthenticated(f"maxbuf of DIGEST-MD5 must be a number from {_LEAST_BYTES} to {MOST_BYTES}")
    return found


def _directives(data: bytes) -> dict[str, str]:
    """The values by their names, each of which may stand once."""
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise NotAuthenticated("a message of DIGEST-MD5 must be ASCII, found other bytes") from None
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        directive = _DIRECTIVE.match(text, at)
        if directive is None or directive[1] in found:
            raise NotAuthenticated("a message of DIGEST-MD5 must be NAME=VALUE, each name once, found another form")
        found[directive[1]] = _QUOTED.sub(r"\1", directive[2]) if directive[3] is None else directive[3]
        at = directive.end()
        separator = _SEPARATOR.match(text, at)
        if at < len(text) and separator is None:
            raise NotAuthenticated("a message of DIGEST-MD5 must have commas between its values, found none")
        at = separator.end() if separator else at
    return found


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()
