"""Data connectors: descriptions of databases in other systems. Nothing here connects to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class DataConnector:
    """The connector to databases of another system.

    `type` is its kind, such as mysql; `owner_type` is USER, GROUP or ROLE.
    """

    name: str
    type: str
    url: str
    description: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None
    owner_type: str | None = None
    created_seconds: int | None = None
