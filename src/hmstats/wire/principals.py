"""Principals' types: the API has numbers, the model and Hive's tables have names."""

from hmstats.wire.idl import hive_metastore

_NAMES: dict[int, str] = {
    hive_metastore.PrincipalType.USER: "USER",
    hive_metastore.PrincipalType.ROLE: "ROLE",
    hive_metastore.PrincipalType.GROUP: "GROUP",
}
_NUMBERS = {name: number for number, name in _NAMES.items()}


def principal_type(number: int | None) -> str | None:
    """USER, ROLE or GROUP; None when the number is missing or unknown."""
    return None if number is None else _NAMES.get(number)


def principal_number(name: str | None) -> int | None:
    """The number of a type's name; None when the name is missing or unknown."""
    return None if name is None else _NUMBERS.get(name)
