"""Names: `@catalog#database` prefixes, lower-casing, and partition names.

A partition name is `key=value/key=value` in the order of the partition keys, with the characters that a path cannot
hold written as %XX. The rules are those of Hive's MetaStoreUtils.parseDbName, Warehouse and FileUtils, byte for byte.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DatabaseName, TableName

NULL_PARTITION_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The text of a null or empty value in a partition name."""

_CATALOG_MARKER, _DATABASE_SEPARATOR, _EMPTY_MARKER = "@", "#", "!"
_UNSAFE = re.compile(r"""[\x00-\x1f"#%'*/:=?\\\x7f{\[\]^]""")
_SAFE = f"[^{_UNSAFE.pattern[1:]}++"
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")


def split_database(text: str, default_catalog: str = DEFAULT_CATALOG) -> tuple[str, str | None]:
    """Catalog, in lower case, and database, as written, of a positional argument: `@catalog#database` or `database`.

    `@catalog#` means every database of the catalog (None), `@catalog#!` the empty name. Raises MetaError if the marker
    has no separator.
    """
    if not text.startswith(_CATALOG_MARKER):
        return default_catalog, text
    catalog, separator, database = text[1:].partition(_DATABASE_SEPARATOR)
    if not separator:
        raise MetaError(f"{text} is prepended with the catalog marker but does not appear to have a catalog name in it")
    if text.endswith(_EMPTY_MARKER):
        return catalog.lower(), ""
    return catalog.lower(), database or None


def database_name(database: str, catalog: str | None = None) -> DatabaseName:
    """A database's name, lower case; a `@catalog#` prefix wins over `catalog`, whose default is `hive`.

    Raises MetaError when there is a catalog alone, or no catalog after the marker.
    """
    own_catalog, own_database = split_database(database, catalog or DEFAULT_CATALOG)
    if own_database is None:
        raise MetaError(f"a database's name must follow the catalog's, found {database}")
    return DatabaseName(own_catalog.lower(), own_database.lower())


def database_text(name: DatabaseName) -> str:
    """A database as one text with its catalog: bare in `hive`, with the prefix in another catalog."""
    if name.catalog == DEFAULT_CATALOG:
        return name.database
    return f"{_CATALOG_MARKER}{name.catalog}{_DATABASE_SEPARATOR}{name.database}"


def quote_name(*parts: str) -> str:
    """A name for SQL of Spark and Hive: each part in backquotes, joined by dots."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def table_name(database: str, table: str, catalog: str | None = None) -> TableName:
    """A table's name, lower case; a `@catalog#` prefix of the database wins over `catalog`, whose default is `hive`.

    Raises MetaError as database_name does.
    """
    parent = database_name(database, catalog)
    return TableName(parent.catalog, parent.database, table.lower())


def escape(text: str) -> str:
    """A key or value with the characters that a path cannot hold as %XX; empty becomes the null value's name."""
    return _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", text) or NULL_PARTITION_VALUE


def unescape(text: str) -> str:
    """The inverse of `escape`; a % without two hex digits after it stays."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def partition_name(keys: Sequence[str], values: Sequence[str]) -> str:
    """The name of the partition with these values, one for each key in the table's order.

    Raises MetaError when their numbers differ or there are none.
    """
    if not keys or len(keys) != len(values):
        raise MetaError(f"Invalid partition key & values; keys {_list_text(keys)}, values {_list_text(values)}")
    return "/".join(f"{escape(key.lower())}={escape(value)}" for key, value in zip(keys, values, strict=True))


def partition_spec(name: str) -> dict[str, str]:
    """Key (lower case) to value of a partition name. Raises MetaError when the name is empty."""
    return {key.lower(): value for key, value in written_spec(name).items()}


def written_spec(name: str) -> dict[str, str]:
    """Key, with its case, to value of a partition name; a path element without `=` is passed over, as Hive does.

    Raises MetaError when the name is empty.
    """
    if not name:
        raise MetaError(f"Partition name is invalid. {name}")
    pairs = (element.partition("=") for element in name.split("/"))
    return {unescape(key): unescape(value) for key, separator, value in pairs if separator}


def partition_values(name: str, keys: Sequence[str]) -> tuple[str, ...]:
    """The values in a partition name, in the order of the table's keys; other keys in the name are ignored.

    Raises MetaError when the name is empty, InvalidObject when a key is missing.
    """
    spec = partition_spec(name)
    for key in keys:
        if key.lower() not in spec:
            raise InvalidObject(f"incomplete partition name - missing {key}")
    return tuple(spec[key.lower()] for key in keys)


def values_of_names(names: Sequence[str], keys: Sequence[str]) -> list[tuple[str, ...]]:
    """The values in each of many partition names, as `partition_values` finds those in one. Raises as it does.

    Names with these keys in this order are read all at once.
    """
    lines = "\n".join(names)
    found = _values_in_lines(tuple(keys)).findall(lines) if keys and lines.count("\n") == len(names) - 1 else []
    if len(found) < len(names):
        return [partition_values(each, keys) for each in names]
    rows = [(each,) for each in found] if len(keys) == 1 else found
    if "%" not in lines:
        return rows
    return [tuple(map(unescape, row)) if "%" in name else row for name, row in zip(names, rows, strict=True)]


@lru_cache(maxsize=1_000)
def _values_in_lines(keys: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds the values in lines of names of these keys, in this order."""
    elements = [re.escape(escape(key.lower())) + r"=([^/\n]*)" for key in keys]
    return re.compile(f"^{'/'.join(elements)}$", re.MULTILINE)


def normal_partition_name(name: str, keys: Sequence[str]) -> str:
    """The name as the metastore stores it: keys lower case in the table's order, values escaped.

    Raises MetaError and InvalidObject as partition_values does.
    """
    if _plain_name(tuple(keys)).fullmatch(name):
        return name
    return partition_name(keys, partition_values(name, keys))


def possible_names(names: Sequence[str], keys: Sequence[str]) -> list[str]:
    """The stored form of the names without duplicates; a name that no partition can have is skipped."""
    if names and are_normal(names, keys):
        return list(dict.fromkeys(names))
    normal: dict[str, None] = {}
    for name in names:
        try:
            normal[normal_partition_name(name, keys)] = None
        except (InvalidObject, MetaError):
            continue
    return list(normal)


def are_normal(names: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether all names, one or more, are in the form in which the metastore stores them; looked at all at once."""
    lines = "\n".join(names) + "\n"
    return lines.count("\n") == len(names) and _plain_names(tuple(keys)).fullmatch(lines) is not None


@lru_cache(maxsize=1_000)
def _plain_names(keys: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern for lines of names in stored form."""
    return re.compile(f"(?:{_plain_name(keys).pattern}\n)+")


@lru_cache(maxsize=1_000)
def _plain_name(keys: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern for names that are in stored form already, as most are; cached, since a call may have thousands."""
    if not keys:
        return re.compile("(?!)")
    return re.compile("/".join(f"{re.escape(escape(key.lower()))}={_SAFE}" for key in keys))


def _list_text(names: Sequence[str]) -> str:
    return "[" + ", ".join(names) + "]"
