"""Calls about named types."""

from typing import Any

from hmstats.errors import MetaError
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.databases.named_types import NamedTypes
from hmstats.wire.catalog.named_types import type_from_thrift, type_to_thrift


class TypeCalls:
    """create, get and drop of named types."""

    def __init__(self, types: NamedTypes) -> None:
        self._types = types

    def create_type(self, session: Session, type: Any) -> bool:
        """Make a type."""
        self._types.create(type_from_thrift(type))
        return True

    def get_type(self, session: Session, name: str | None) -> Any:
        """The type."""
        return type_to_thrift(self._types.get(_required_name(name)))

    def drop_type(self, session: Session, type: str | None) -> bool:
        """Drop a type; there may be none."""
        self._types.drop(_required_name(type))
        return True


def _required_name(name: str | None) -> str:
    if name is None:
        raise MetaError("a type's name must be a text, found none")
    return name
