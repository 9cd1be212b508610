"""Finds the end of a TBinaryProtocol message in bytes that arrive in pieces.

Every message is scanned before it is decoded: a scanned message has known type codes, sizes within the limit, values
nested no deeper than decoders go, and no more structs, lists, sets and maps than its bytes pay for. Each byte is read
once, except for the few of a head that arrives in two parts. Format: thrift/doc/specs/thrift-binary-protocol.md of
Apache Thrift.
"""

import struct
from collections.abc import Callable, Iterator

from hmstats.errors import MessageTooLarge, ProtocolError
from hmstats.wire.messages.allowance import Allowance
from hmstats.wire.messages.envelope import Head, read_head

MAX_DEPTH = 64
"""Structs, lists, sets and maps inside each other, the struct of arguments included; thriftpy2's limit."""

_STOP, _STRING, _STRUCT, _MAP, _SET, _LIST = 0, 11, 12, 13, 14, 15
_FIXED_BYTES = {2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8}
"""bool, byte, double, i16, i32, i64."""
_LEAST_BYTES = _FIXED_BYTES | {_STRING: 4, _STRUCT: 1, _MAP: 6, _SET: 5, _LIST: 5}
_FIELD_BYTES = tuple(3 + _FIXED_BYTES[kind] if kind in _FIXED_BYTES else 0 for kind in range(256))
"""By type code: the bytes of a field with its head when all its values have one size, else 0."""

_SIZE = struct.Struct(">I").unpack_from
_ELEMENTS = struct.Struct(">BI").unpack_from
_ENTRIES = struct.Struct(">BBI").unpack_from
_LARGEST_SIZE = 2**31 - 1
"""Sizes are signed in the protocol and read unsigned here, so that a negative one is above every limit."""

_UNLIMITED = Allowance(_LARGEST_SIZE, _LARGEST_SIZE, dense=True)
"""The allowance for messages that were scanned before."""

_LONGEST_REPEATED = 2**16
"""The longest list, in bytes, that is compared with the last one."""

_KEPT_BYTES = 2**16
"""Bytes that were passed and are kept; beyond it they are removed, where the caller wants that."""

_IN_STRUCT = -1

_ReadHead = Callable[[bytearray], Head | None]
_Kinds = tuple[int, int]
_STRINGS: _Kinds = (_STRING, _STRING)
"""The kinds of most long lists: texts only."""


class Scanner:
    """Scans one message at the beginning of `inbox`, to which the caller only appends until the message is whole.

    The message is a request, unless the head of another kind is read.
    """

    __slots__ = ("_steps",)

    def __init__(self, inbox: bytearray, allowance: Allowance, head_of: _ReadHead = read_head) -> None:
        self._steps = _steps(inbox, allowance, head_of)

    def scan(self) -> int | None:
        """The message's size in bytes; None if it is incomplete.

        Raises ProtocolError for bytes that are no message, MessageTooLarge for one above the limits; the scanner must
        not be used after that.
        """
        return next(self._steps)


def _steps(inbox: bytearray, allowance: Allowance, head_of: _ReadHead) -> Iterator[int | None]:
    while (head := head_of(inbox)) is None:
        yield None
    yield from _skip_value(inbox, _STRUCT, head.body_at, allowance)


def end_of_value(message: bytes, kind: int, at: int, allowance: Allowance = _UNLIMITED) -> int:
    """The place after a value in a whole message. Raises ProtocolError, and MessageTooLarge beyond an allowance."""
    if kind in _FIXED_BYTES:
        return at + _FIXED_BYTES[kind]
    if kind == _STRING and at + 4 <= len(message):
        return at + 4 + int(_SIZE(message, at)[0])
    end = next(_skip_value(message, kind, at, allowance))
    if end is None:
        raise ProtocolError(f"the value at byte {at} must end within the message of {len(message)} bytes")
    return end


def passing(inbox: bytearray, kind: int, at: int) -> Iterator[int | None]:
    """Passes over a value of any size that arrives in `inbox`, and removes from it what was passed, in large parts.

    Yields None when it runs out of bytes, at last the place after the value. Raises ProtocolError for bytes that are
    no value, MessageTooLarge for a text or a container that claims more than 2 GiB.
    """
    return _skip_value(inbox, kind, at, _UNLIMITED, removed_from=inbox)


def _skip_value(  # noqa: C901, PLR0912, PLR0915 - one loop, for speed
    inbox: bytes | bytearray, kind: int, at: int, allowance: Allowance, *, removed_from: bytearray | None = None
) -> Iterator[int | None]:
    """Skip the value at offset `at`. Yields None whenever it runs out of bytes, at last the offset after the value.

    `at` may lie ahead of the bytes that have come: what is in between need not be looked at. `remaining` counts
    the values to come in a list, set or map, whose types alternate in `kinds`. They change only once a value's head was
    read whole, so the scan can continue after more bytes have come without other state. `containers` counts what was
    opened.
    """
    limit = min(allowance.message_bytes, _LARGEST_SIZE)
    containers = allowed = 0
    remaining, kinds = 1, (kind, kind)
    outer: list[tuple[int, _Kinds]] = []
    lists: list[tuple[int, int, int]] = []
    last, last_depth, last_containers = b"", 0, 0
    while True:
        try:
            while True:
                if remaining < 0:
                    kind = inbox[at]
                    if field_bytes := _FIELD_BYTES[kind]:
                        at += field_bytes
                        continue
                    if kind == _STRING:
                        at += 7 + _SIZE(inbox, at + 3)[0]
                        continue
                    if kind == _STOP:
                        at += 1
                        remaining, kinds = outer.pop()
                        continue
                    value_at = at + 3
                elif remaining:
                    if kinds == _STRINGS:
                        for remaining in range(remaining, 0, -1):  # noqa: B007, B020 - so many are left if bytes run out
                            at += 4 + _SIZE(inbox, at)[0]
                        remaining = 0
                        continue
                    kind, value_at = kinds[remaining & 1], at
                elif outer:
                    if lists and lists[-1][1] == len(outer):
                        list_at, depth, before = lists.pop()
                        if at - list_at <= _LONGEST_REPEATED:
                            last, last_depth, last_containers = bytes(inbox[list_at:at]), depth, containers - before
                    remaining, kinds = outer.pop()
                    continue
                else:
                    break
                inner, inner_kinds, list_at = _IN_STRUCT, kinds, -1
                if kind == _LIST and last and len(outer) < last_depth and inbox.startswith(last, value_at):
                    value_at, inner = value_at + len(last), 0
                    containers += last_containers
                elif kind == _LIST and last and len(inbox) - value_at < len(last) and last.startswith(inbox[value_at:]):
                    raise IndexError  # noqa: TRY301 - bytes run out: as far as they go, it is the last list again
                elif kind != _STRUCT:
                    list_at = value_at
                    value_at, inner, inner_kinds = _open(inbox, kind, value_at, limit)
                at = value_at
                if remaining > 0:
                    remaining -= 1
                if kind >= _STRUCT:
                    containers += 1
                    if containers > allowed:
                        allowed = allowance.check(containers, at)
                if inner:
                    outer.append((remaining, kinds))
                    if kind == _LIST and inner_kinds[0] == _STRUCT:
                        lists.append((list_at, len(outer), containers))
                    remaining, kinds = inner, inner_kinds
                    if len(outer) > MAX_DEPTH:
                        raise ProtocolError(f"values may be nested {MAX_DEPTH} deep, found more")
        except (IndexError, struct.error):
            _check_size(at, limit)
            if removed_from is not None and at > _KEPT_BYTES:
                passed = min(at, len(removed_from))
                del removed_from[:passed]
                at -= passed
                lists.clear()  # their beginnings are gone
            yield None
        else:
            _check_size(at, limit)
            yield at


def _open(inbox: bytes | bytearray, kind: int, at: int, limit: int) -> tuple[int, int, _Kinds]:
    """Skip a value's head, and the whole value unless its elements differ in size.

    Returns the position after it, how many elements follow, and their types.
    """
    if kind in _FIXED_BYTES:
        return at + _FIXED_BYTES[kind], 0, (kind, kind)
    if kind == _STRING:
        return at + 4 + _SIZE(inbox, at)[0], 0, (kind, kind)
    if kind in (_LIST, _SET):
        element, count = _ELEMENTS(inbox, at)
        return _enter(at + 5, count, (element,), limit)
    if kind == _MAP:
        key, value, count = _ENTRIES(inbox, at)
        return _enter(at + 6, count, (key, value), limit)
    raise ProtocolError(f"a value's type must be a code of Thrift, found {kind} before byte {at}")


def _enter(at: int, count: int, kinds: tuple[int, ...], limit: int) -> tuple[int, int, _Kinds]:
    for kind in kinds:
        if kind not in _LEAST_BYTES:
            raise ProtocolError(f"an element's type must be a code of Thrift, found {kind} before byte {at}")
    if not count:
        return at, 0, (_STOP, _STOP)
    least_end = at + count * sum(_LEAST_BYTES[kind] for kind in kinds)
    _check_size(least_end, limit)
    if all(kind in _FIXED_BYTES for kind in kinds):
        return least_end, 0, (_STOP, _STOP)
    # An even count is followed by a key, an odd one by a value.
    return at, count * len(kinds), (kinds[0], kinds[-1])


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise MessageTooLarge(f"a message may have {limit} bytes, found one of at least {size}")
