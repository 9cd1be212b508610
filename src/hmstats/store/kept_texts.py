"""Statements whose text is made once: SQLAlchemy takes longer to make it than the database to write some rows."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.sql.elements import ClauseElement

from hmstats.store.prepared import Prepared
from hmstats.store.shape import Shape
from hmstats.store.stand_ins import dialect
from hmstats.store.unit import Unit


class KeptText(NamedTuple):
    """A statement for PostgreSQL, the names of its parameters in their order, and those that are constants."""

    text: str
    names: Sequence[str]
    constants: Mapping[str, Any]
    prepared: Prepared

    @classmethod
    def of(cls, shape: Shape, statement: ClauseElement) -> "KeptText":
        """The text of a statement over a database of this shape; whoever makes it keeps it."""
        compiled: Any = statement.compile(dialect=dialect(shape, "format"))
        text = str(compiled)
        return cls(text, compiled.positiontup or (), compiled.params, Prepared.of(text))

    def later(self, unit: Unit, values: Mapping[str, Any]) -> None:
        """Have it run with these parameters when the unit sends what waits."""
        given = [values[name] if name in values else self.constants[name] for name in self.names]
        unit.later(self.text, given, self.prepared)
