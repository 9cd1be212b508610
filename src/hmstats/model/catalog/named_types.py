"""Named types, as Hive's oldest tables of types have them. No engine uses them; clients make and drop them."""

from dataclasses import dataclass

from hmstats.model.catalog.objects import Column


@dataclass(frozen=True, slots=True)
class NamedType:
    """A type of one or two other types, or of fields."""

    name: str
    first: str | None = None
    second: str | None = None
    fields: tuple[Column, ...] = ()
