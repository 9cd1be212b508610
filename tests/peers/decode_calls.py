"""Records the calls between a client and a metastore, as a proxy between both.

    python -m tests.peers.decode_calls LISTEN_PORT UPSTREAM_PORT OUT [--names] [--refuse METHOD ...]

Each call becomes a line of JSON in OUT: {"t", "conn", "name", "args", "reply", "result", "ms"}; the reply is "ok" or an
exception's name. Long texts and lists are cut in the record only. With --names a line is the method's name alone.
Methods of --refuse are answered with UNKNOWN_METHOD without asking the metastore, to see which fallbacks a client has.
Binary protocol, unframed.
"""

import argparse
import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TextIO

from hmstats.wire.idl import Method, methods

_MOST_ELEMENTS, _MOST_CHARACTERS, _MOST_BYTES = 12, 300, 40
_NUMBERS = {2: "?", 3: "b", 4: "d", 6: "h", 8: "i", 10: "q"}
_STOP, _STRING, _STRUCT, _MAP, _SET, _LIST, _BINARY = 0, 11, 12, 13, 14, 15, 18
_EXCEPTION, _ONEWAY = 3, 4
_APPLICATION_EXCEPTION = {1: (_STRING, "message"), 2: (8, "type")}

Spec = tuple[Any, ...]
"""A field of the IDL as thriftpy2 has it: the type's code, the name, and its content or the struct's class."""


class Tap:
    """Reads from a socket, and remembers every byte since the last `take`."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._buffer = bytearray()
        self._at = 0

    def read(self, size: int) -> bytes:
        """That many bytes. Raises EOFError when the other side has closed."""
        while len(self._buffer) - self._at < size:
            received = self._socket.recv(1 << 16)
            if not received:
                raise EOFError
            self._buffer += received
        self._at += size
        return bytes(self._buffer[self._at - size : self._at])

    def send(self, data: bytes) -> None:
        """Send to the other side."""
        self._socket.sendall(data)

    def unpack(self, form: str) -> tuple[Any, ...]:
        """Big-endian numbers."""
        return struct.unpack(f">{form}", self.read(struct.calcsize(f">{form}")))

    def take(self) -> bytes:
        """The bytes that were read since the last time."""
        taken = bytes(self._buffer[: self._at])
        del self._buffer[: self._at]
        self._at = 0
        return taken


@dataclass(frozen=True, slots=True)
class Head:
    """A message's name, type, and the four bytes of its sequence id."""

    name: str
    kind: int
    sequence: bytes


def read_head(tap: Tap) -> Head:
    """The envelope of a message, in strict or old form."""
    (first,) = tap.unpack("i")
    if first < 0:
        (size,) = tap.unpack("i")
        return Head(tap.read(size).decode(), first & 0xFF, tap.read(4))
    return Head(tap.read(first).decode(), tap.read(1)[0], tap.read(4))


def read_struct(tap: Tap, specs: dict[int, Spec]) -> dict[str, Any]:
    """Name to value; a field that the IDL does not have is called ?id."""
    values: dict[str, Any] = {}
    while code := tap.read(1)[0]:
        (number,) = tap.unpack("h")
        spec = specs.get(number, (code, f"?{number}"))
        values[spec[1]] = read_value(tap, code, spec)
    return values


def read_value(tap: Tap, code: int, spec: Spec) -> Any:
    """A value of the type on the wire, its parts named by the IDL where both agree."""
    inner = spec[2] if len(spec) > 2 else None
    if code in _NUMBERS:
        return tap.unpack(_NUMBERS[code])[0]
    if code == _STRING:
        return _shown(tap.read(tap.unpack("i")[0]), binary=spec[0] == _BINARY)
    if code == _STRUCT:
        return read_struct(tap, getattr(inner, "thrift_spec", {}))
    if code == _MAP:
        return _read_map(tap, inner)
    if code in (_SET, _LIST):
        return _read_elements(tap, inner)
    raise ValueError(f"a type of Thrift's binary protocol was expected, found {code}")


def _read_map(tap: Tap, inner: Any) -> dict[str, Any]:
    key_code, value_code, size = tap.unpack("bbi")
    key, value = (_element(part) for part in inner) if inner else ((key_code, ""), (value_code, ""))
    return {str(read_value(tap, key_code, key)): read_value(tap, value_code, value) for _ in range(size)}


def _read_elements(tap: Tap, inner: Any) -> list[Any]:
    code, size = tap.unpack("bi")
    values = [read_value(tap, code, _element(inner)) for _ in range(size)]
    return values if size <= _MOST_ELEMENTS else [*values[:_MOST_ELEMENTS], f"..{size} in all"]


def _element(inner: Any) -> Spec:
    """A container's element as a field without a name."""
    return (inner[0], "", inner[1]) if isinstance(inner, tuple) else (inner, "")


def _shown(data: bytes, *, binary: bool) -> str:
    if binary:
        return "0x" + data[:_MOST_BYTES].hex() + (f"..{len(data)}" if len(data) > _MOST_BYTES else "")
    text = data.decode("utf-8", "replace")
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..{len(text)}"


def read_reply(tap: Tap, method: Method | None) -> tuple[str, Any]:
    """`ok` and the value, or an exception's name and its fields."""
    head = read_head(tap)
    if head.kind == _EXCEPTION:
        return "TApplicationException", read_struct(tap, _APPLICATION_EXCEPTION)
    values = read_struct(tap, method.result.thrift_spec if method else {})
    raised = {name: exception.__name__ for exception, name in method.throws.items()} if method else {}
    for name, value in values.items():
        if name in raised:
            return raised[name], value
    return "ok", values.get("success")


def refusal(head: Head) -> bytes:
    """The answer of a server that does not know the method."""
    name, text = head.name.encode(), f"Invalid method name: '{head.name}'".encode()
    start = struct.pack(">Ii", 0x80010003, len(name)) + name + head.sequence
    return start + struct.pack(">bhi", _STRING, 1, len(text)) + text + struct.pack(">bhib", 8, 2, 1, _STOP)


@dataclass
class Recorder:
    """A file of calls that many connections write to."""

    out: TextIO
    names_only: bool = False
    refused: Collection[str] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _connections: Iterator[int] = field(default_factory=lambda: count(1))

    def serve(self, client: socket.socket, upstream_port: int) -> None:
        """Pass the calls of one connection on, until a side closes it."""
        number = next(self._connections)
        with contextlib.suppress(EOFError, OSError), client, _connected(upstream_port) as upstream:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asked, answered = Tap(client), Tap(upstream)
            while True:
                self._pass_call(number, asked, answered)

    def _pass_call(self, number: int, asked: Tap, answered: Tap) -> None:
        head = read_head(asked)
        method = methods().get(head.name)
        arguments = read_struct(asked, method.arguments.thrift_spec if method else {})
        started = time.time()
        record = {"t": round(started, 3), "conn": number, "name": head.name, "args": arguments}
        request = asked.take()
        if head.name in self.refused:
            asked.send(refusal(head))
            self._write(record | {"reply": "refused"})
            return
        answered.send(request)
        if head.kind == _ONEWAY or (method and method.oneway):
            self._write(record | {"reply": "oneway"})
            return
        try:
            reply, result = read_reply(answered, method)
        except (EOFError, OSError):
            self._write(record | {"reply": "connection closed by the server"})
            raise
        milliseconds = round((time.time() - started) * 1000, 1)
        self._write(record | {"reply": reply, "result": result, "ms": milliseconds})
        asked.send(answered.take())

    def _write(self, record: dict[str, Any]) -> None:
        with self._lock:
            self.out.write((record["name"] if self.names_only else json.dumps(record)) + "\n")
            self.out.flush()


def _connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def listen(port: int, upstream_port: int, recorder: Recorder) -> None:
    """Accept connections for ever, a thread each."""
    with socket.create_server(("127.0.0.1", port), backlog=200) as listener:
        while True:
            client, _ = listener.accept()
            threading.Thread(target=recorder.serve, args=(client, upstream_port), daemon=True).start()


def main() -> None:
    """Record until the process is ended."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("listen_port", type=int)
    parser.add_argument("upstream_port", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--refuse", nargs="*", default=[], metavar="METHOD")
    given = parser.parse_args()
    with given.out.open("a") as out:
        listen(given.listen_port, given.upstream_port, Recorder(out, given.names, given.refuse))


if __name__ == "__main__":
    main()
