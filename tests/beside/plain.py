"""Thrift structs as plain values, to be compared whatever class they are of."""

from typing import Any

NO_VECTOR = b"HL"
"""What Hive 3.1 stores, and sends, for no bit vector."""


def plain(value: Any) -> Any:
    """Structs and maps as dictionaries without what is unset or empty, lists as lists."""
    spec = getattr(value, "thrift_spec", None)
    if spec is not None:
        fields = {each[1]: getattr(value, each[1]) for each in spec.values()}
        return {name: plain(field) for name, field in fields.items() if field not in (None, [], {}, NO_VECTOR)}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in sorted(value.items())}
    return [plain(each) for each in value] if isinstance(value, list) else value


def differences(one: Any, other: Any, at: str = "") -> list[str]:
    """Where two plain values differ, each with both sides."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other}, key=str)
        return [found for key in keys for found in differences(one.get(key), other.get(key), f"{at}/{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for place, both in pairs for found in differences(*both, f"{at}/{place}")]
    return [] if one == other else [f"{at}: {one!r} and {other!r}"]
