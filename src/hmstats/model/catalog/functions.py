"""User-defined functions: a name in a database, the class behind it, and the files that hold the class."""

from dataclasses import dataclass
from enum import IntEnum

from hmstats.model.catalog.objects import DatabaseName


class ResourceKind(IntEnum):
    """The kind of a function's file; the numbers are those of the API and of Hive's tables."""

    JAR = 1
    FILE = 2
    ARCHIVE = 3


class FunctionKind(IntEnum):
    """The language of a function; the numbers are those of the API and of Hive's tables."""

    JAVA = 1


@dataclass(frozen=True, slots=True)
class Resource:
    """A file that a function needs."""

    kind: ResourceKind
    uri: str


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function in its database and catalog, all lower case."""

    catalog: str
    database: str
    function: str

    @property
    def parent(self) -> DatabaseName:
        """The database that the function is in."""
        return DatabaseName(self.catalog, self.database)

    def __str__(self) -> str:
        return f"{self.catalog}.{self.database}.{self.function}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function. `owner_type` is USER, GROUP or ROLE."""

    name: FunctionName
    class_name: str
    owner: str | None = None
    owner_type: str
    created_seconds: int = 0
    kind: FunctionKind = FunctionKind.JAVA
    resources: tuple[Resource, ...] = ()
