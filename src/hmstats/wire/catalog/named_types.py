"""Named types: Thrift structs <-> model, both directions side by side."""

from typing import Any

from hmstats.errors import InvalidObject
from hmstats.model.catalog.named_types import NamedType
from hmstats.wire.catalog.objects import columns_from_thrift, columns_to_thrift
from hmstats.wire.idl import hive_metastore


def type_from_thrift(struct: Any) -> NamedType:
    """The type in a struct. Raises InvalidObject when it has no name."""
    if not struct.name:
        raise InvalidObject("a type must have a name, found none")
    return NamedType(struct.name, struct.type1, struct.type2, columns_from_thrift(struct.fields))


def type_to_thrift(named: NamedType) -> Any:
    """The Type struct."""
    fields = columns_to_thrift(named.fields) if named.fields else None
    return hive_metastore.Type(name=named.name, type1=named.first, type2=named.second, fields=fields)
