"""Seeded damage to bytes: single bits and bytes, sizes, pieces that are lost, doubled, moved or come from elsewhere."""

import random
from collections.abc import Callable

_SIZES = (0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0x8000, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_BYTES = (0, 1, 2, 3, 8, 10, 11, 12, 13, 14, 15, 0x7F, 0x80, 0x82, 0xFF)
"""Types of Thrift, and the ends of signed and unsigned ranges."""
_TIMES = (1, 1, 1, 1, 2, 3, 5)


def _flip(data: bytearray, drawn: random.Random, _: bytes) -> None:
    data[drawn.randrange(len(data))] ^= 1 << drawn.randrange(8)


def _set(data: bytearray, drawn: random.Random, _: bytes) -> None:
    data[drawn.randrange(len(data))] = drawn.choice(_BYTES)


def _resize(data: bytearray, drawn: random.Random, _: bytes) -> None:
    at = drawn.randrange(len(data))
    data[at : at + 4] = drawn.choice(_SIZES).to_bytes(4, "big")


def _remove(data: bytearray, drawn: random.Random, _: bytes) -> None:
    at = drawn.randrange(len(data))
    del data[at : at + drawn.randrange(1, 9)]


def _end(data: bytearray, drawn: random.Random, _: bytes) -> None:
    del data[drawn.randrange(len(data)) :]


def _double(data: bytearray, drawn: random.Random, _: bytes) -> None:
    at = drawn.randrange(len(data))
    data[at:at] = data[at : at + drawn.randrange(1, 33)] * drawn.choice((1, 1, 1, 30))


def _insert(data: bytearray, drawn: random.Random, _: bytes) -> None:
    at = drawn.randrange(len(data) + 1)
    data[at:at] = drawn.randbytes(drawn.randrange(1, 9))


def _splice(data: bytearray, drawn: random.Random, other: bytes) -> None:
    at, begin = drawn.randrange(len(data)), drawn.randrange(len(other))
    data[at : at + drawn.randrange(33)] = other[begin : begin + drawn.randrange(1, 65)]


_MUTATIONS: tuple[Callable[[bytearray, random.Random, bytes], None], ...] = (
    _flip,
    _flip,
    _set,
    _set,
    _resize,
    _remove,
    _end,
    _double,
    _insert,
    _splice,
)


def mutated(data: bytes, drawn: random.Random, other: bytes) -> bytes:
    """The data with some damage; pieces may come from `other`."""
    damaged = bytearray(data)
    for _ in range(drawn.choice(_TIMES)):
        if damaged:
            drawn.choice(_MUTATIONS)(damaged, drawn, other)
    return bytes(damaged)
