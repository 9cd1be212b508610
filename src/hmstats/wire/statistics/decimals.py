"""Thrift's Decimal (an unscaled big-endian two's-complement integer, and a scale) <-> Python's.

The scale is preserved: 1.50 stays 1.50, and a negative scale stays negative. Bytes are written in their shortest form,
as Java does.
"""

from decimal import Decimal
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.wire.idl import hive_metastore

MAX_UNSCALED_BYTES = 128
"""The most bytes of an unscaled value, far above the 16 bytes of Hive's 38 digits."""


def decimal_to_thrift(value: Decimal) -> Any:
    """The Thrift struct of a finite decimal. Raises InvalidInput for NaN and infinities."""
    unscaled, scale = decimal_parts(value)
    return hive_metastore.Decimal(scale=scale, unscaled=unscaled)


def decimal_parts(value: Decimal) -> tuple[bytes, int]:
    """The unscaled value's bytes and the scale of a finite decimal. Raises InvalidInput for NaN and infinities."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise InvalidInput(f"a decimal bound must be a finite number, not {value}")
    unscaled = int("".join(map(str, digits)))
    unscaled = -unscaled if sign else unscaled
    length = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return unscaled.to_bytes(length, "big", signed=True), -exponent


def decimal_from_thrift(struct: Any) -> Decimal:
    """The decimal in a Thrift struct. Raises InvalidInput for an empty or absurdly long number."""
    unscaled, scale = struct.unscaled, struct.scale
    if not isinstance(unscaled, bytes) or not 0 < len(unscaled) <= MAX_UNSCALED_BYTES:
        found = "nothing" if not unscaled else f"{len(unscaled)} bytes"
        raise InvalidInput(f"a decimal's unscaled value must have 1 to {MAX_UNSCALED_BYTES} bytes, found {found}")
    return decimal_of(unscaled, scale or 0)


def decimal_of(unscaled: bytes, scale: int) -> Decimal:
    """The decimal of an unscaled value's bytes and a scale."""
    return Decimal(f"{int.from_bytes(unscaled, 'big', signed=True)}E{-scale}")
