"""Maps whose keys are lists, which thriftpy2 cannot hold: the places of skewed values, list<string> to string.

They are taken out of a message before it is decoded, and put into the decoded structs with tuples for keys.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from hmstats.errors import ProtocolError
from hmstats.wire.messages.scanner import end_of_value

_STOP, _STRING, _STRUCT, _MAP, _LIST = 0, 11, 12, 13, 15
_FIELD = struct.Struct(">h").unpack_from
_ELEMENTS = struct.Struct(">Bi").unpack_from
_COUNT = struct.Struct(">i").unpack_from
_LISTS_TO_TEXTS = bytes((_LIST, _STRING))
_UNKNOWN_FIELD = b"\x7f\xff"
"""An id that no struct has, so that thriftpy2 skips the field."""

_FILLED = re.compile(rb"\x0d..\x0f\x0b(?!\x00\x00\x00\x00)", re.DOTALL)
"""The head of a field with such a map that is not empty; other bytes may match too."""

Path = tuple[str | int, ...]
"""The names of fields and the places in lists that lead to a value."""


class RemovedMap(NamedTuple):
    """A map that was removed from a message, and the path of its field."""

    path: Path
    values: Mapping[tuple[str, ...], str]


def remove_maps(arguments: Any, message: bytes, at: int) -> tuple[bytes, list[RemovedMap]]:
    """A scanned message, with arguments of this class at `at`, without such maps; and the maps.

    Raises ProtocolError for keys and values that are no texts.
    """
    if not _FILLED.search(message, at):
        return message, []
    patched, removed = bytearray(message), []
    for path, field_at in _find_maps((_STRUCT, arguments), message, at, ()):
        patched[field_at + 1 : field_at + 3] = _UNKNOWN_FIELD
        removed.append(RemovedMap(path, _read_map(message, field_at + 3)))
    return bytes(patched), removed


def restore_maps(arguments: Any, removed: list[RemovedMap]) -> None:
    """Put the maps into the decoded arguments."""
    for path, values in removed:
        *parents, name = path
        owner = arguments
        for step in parents:
            owner = owner[step] if isinstance(step, int) else getattr(owner, step)
        setattr(owner, str(name), dict(values))


def _find_maps(kind: Any, message: bytes, at: int, path: Path) -> Iterator[tuple[Path, int]]:
    """The path and the field's offset of each such map in a value of this kind."""
    code, inner = kind
    if code == _LIST:
        element, count = _ELEMENTS(message, at)
        at += 5
        for index in range(count if element == _STRUCT else 0):
            yield from _find_maps((_STRUCT, inner[1]), message, at, (*path, index))
            at = end_of_value(message, element, at)
        return
    leading = _leading(inner)
    while (field_code := message[at]) != _STOP:
        name, field = leading.get(_FIELD(message, at + 1)[0], ("", (None, None)))
        if field_code == field[0] == _MAP and message[at + 3 : at + 5] == _LISTS_TO_TEXTS:
            yield (*path, name), at
        elif field_code == field[0] and field_code in (_STRUCT, _LIST):
            yield from _find_maps(field, message, at + 3, (*path, name))
        at = end_of_value(message, field_code, at + 3)


@cache
def _leading(struct_class: Any) -> Mapping[int, tuple[str, Any]]:
    """By id the name and type of a struct's fields that are, or lead to, a map with lists for keys."""
    specs = struct_class.thrift_spec.items()
    fields = {number: (spec[1], (spec[0], spec[2])) for number, spec in specs if len(spec) > 3}
    return {number: field for number, field in fields.items() if _leads_to_map(field[1], frozenset())}


def _leads_to_map(kind: Any, seen: frozenset[Any]) -> bool:
    code, inner = kind
    if code == _MAP:
        return isinstance(inner[0], tuple) and inner[0][0] == _LIST
    if code == _LIST:
        return isinstance(inner, tuple) and inner[0] == _STRUCT and _leads_to_map(inner, seen)
    if code != _STRUCT or inner in seen:
        return False
    specs = (spec for spec in inner.thrift_spec.values() if len(spec) > 3)
    return any(_leads_to_map((spec[0], spec[2]), seen | {inner}) for spec in specs)


def _read_map(message: bytes, at: int) -> dict[tuple[str, ...], str]:
    """The map whose head, types and count, is at `at`. Raises ProtocolError for keys that are no lists of texts."""
    entries: dict[tuple[str, ...], str] = {}
    count = _COUNT(message, at + 2)[0]
    at += 6
    for _ in range(count):
        values = []
        kind, length = _ELEMENTS(message, at)
        if length and kind != _STRING:
            raise ProtocolError(f"the map's key at byte {at} must be a list of texts, found type {kind}")
        at += 5
        for _ in range(length):
            text, at = _text(message, at)
            values.append(text)
        entries[tuple(values)], at = _text(message, at)
    return entries


def _text(message: bytes, at: int) -> tuple[str, int]:
    end = at + 4 + _COUNT(message, at)[0]
    try:
        return message[at + 4 : end].decode(), end
    except UnicodeDecodeError as error:
        raise ProtocolError(f"the text at byte {at} of a map is not UTF-8") from error
