"""The values that a write will store, in the table's types: columns that have statistics, and partition keys.

A write casts values to the types of an existing table. Statistics must be of the cast values, so they are cast here
too.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField

from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog.names import quote_name
from hmstats.model.statistics.column_types import kind_of

_TEXT_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
"""The key in a field's metadata under which Spark stores the type of a char or varchar."""
_SIZED = re.compile(r"(char|varchar)\((\d+)\)")


@dataclass(frozen=True, slots=True)
class Target:
    """The columns and keys of a write. `types` is Hive type by column, of those with statistics.

    `keys` are the partition keys. `values` are expressions over the rows to write: one for each of the columns, then
    the text of each key.
    """

    types: Mapping[str, str]
    keys: tuple[str, ...]
    values: tuple[Column, ...]

    def only(self, request: Statement) -> "Target":
        """The target without the columns that a request leaves out."""
        kept = [name for name in self.types if request.columns is None or name in request.columns]
        types = {name: self.types[name] for name in kept if name not in request.without}
        values = dict(zip(self.types, self.values, strict=False))
        return Target(types, self.keys, (*(values[name] for name in types), *self.values[len(self.types) :]))


def new_table(rows: DataFrame, partition_by: Sequence[str]) -> Target:
    """The target for a table that the write creates. Raises StatementError for a key that is no column."""
    fields = {field.name.lower(): field for field in rows.schema.fields}
    keys = tuple(key.lower() for key in partition_by)
    for key in keys:
        if key not in fields:
            raise StatementError(f"the rows have no column {key} to partition by, only {', '.join(fields)}")
    return _target({name: (field, field) for name, field in fields.items()}, keys)


def stored_table(rows: DataFrame, table: DataFrame, keys: Sequence[str], *, by_position: bool) -> Target:
    """The target for an existing table. `keys` are its partition keys, lower case.

    Raises StatementError if the rows' columns are not the table's.
    """
    wanted = {field.name.lower(): field for field in table.schema.fields}
    given = rows.schema.fields
    names = wanted if by_position else [field.name.lower() for field in given]
    named = dict(zip(names, given, strict=False))
    if len(given) != len(wanted) or named.keys() != wanted.keys():
        found = ", ".join(field.name for field in given)
        raise StatementError(f"the table has the columns {', '.join(wanted)}, the rows {found}")
    return _target({name: (named[name], field) for name, field in wanted.items()}, tuple(keys))


def _target(fields: Mapping[str, tuple[StructField, StructField]], keys: tuple[str, ...]) -> Target:
    """The target for these fields: each stored column with the rows' field and the field that it becomes."""
    known = {name: _hive_type(stored) for name, (_, stored) in fields.items() if name not in keys}
    types = {name: type_ for name, type_ in known.items() if kind_of(type_) is not None}
    columns = [_value(*fields[name], types[name]) for name in types]
    texts = [_value(*fields[key], "").cast("string") for key in keys]
    return Target(types, keys, (*columns, *texts))


def _hive_type(field: StructField) -> str:
    sized = _metadata(field).get(_TEXT_TYPE)
    return str(sized or field.dataType.simpleString()).lower()


def _metadata(field: StructField) -> Mapping[str, object]:
    found = field.metadata or {}
    return json.loads(found) if isinstance(found, str) else found


def _value(given: StructField, stored: StructField, type_: str) -> Column:
    """The rows' value in the table's type; a value that cannot be cast fails the write by itself."""
    column = F.col(quote_name(given.name))
    if given.dataType != stored.dataType:
        column = column.try_cast(stored.dataType)
    sized = _SIZED.fullmatch(type_)
    if not sized:
        return column
    size = int(sized[2])
    # A write truncates only spaces.
    return F.rpad(column, size, " ") if sized[1] == "char" else F.substring(column, 1, size)
