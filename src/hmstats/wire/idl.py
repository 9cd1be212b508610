"""The API as thriftpy2 sees it: the structs, and for each method its arguments, its result and what it may raise.

`hive_metastore` has Hive's structs, `extension` ours.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import thriftpy2

from hmstats.resources import folder

extension: Any = thriftpy2.load(str(folder("thrift") / "hmstats.thrift"), module_name="hmstats_thrift")
hive_metastore: Any = extension.hive_metastore  # included there; loaded for itself it would be parsed twice
SERVICE: Any = hive_metastore.ThriftHiveMetastore
EXTENDED_SERVICE: Any = extension.HmstatsService
"""Hive's service and ours together."""
SUCCESS_FIELD = 0


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the API. `throws` maps a declared exception's class to the result field that carries it."""

    name: str
    arguments: Any
    result: Any
    throws: Mapping[type[Exception], str]
    oneway: bool

    @property
    def returns_value(self) -> bool:
        """Whether the method returns a value, so that a result without one is an error."""
        return SUCCESS_FIELD in self.result.thrift_spec


@cache
def methods() -> Mapping[str, Method]:
    """All methods by name: ours, Hive's, and those inherited from fb303."""
    return {method.name: method for service in _services(EXTENDED_SERVICE) for method in _own_methods(service)}


def _services(service: Any) -> Iterator[Any]:
    """The services that a service extends, then the service itself."""
    for base in service.__bases__:
        if hasattr(base, "thrift_services"):
            yield from _services(base)
    yield service


def _own_methods(service: Any) -> Iterator[Method]:
    for name in service.thrift_services:
        result = getattr(service, f"{name}_result", None)
        if result is not None:
            yield Method(name, getattr(service, f"{name}_args"), result, _throws(result), result.oneway)


def _throws(result: Any) -> dict[type[Exception], str]:
    return {spec[2]: spec[1] for field, spec in result.thrift_spec.items() if field != SUCCESS_FIELD}
