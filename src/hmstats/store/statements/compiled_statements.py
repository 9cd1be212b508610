"""Statements with cached text: SQLAlchemy takes longer to build it than the database to write some rows."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.sql.elements import ClauseElement

from hmstats.store.beside_hive.adapted_statements import dialect
from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.unit.prepared import Prepared
from hmstats.store.unit.unit import Unit


class CompiledStatement(NamedTuple):
    """A statement for PostgreSQL, with the names of its parameters in order, and the values of constant ones."""

    text: str
    names: Sequence[str]
    constants: Mapping[str, Any]
    prepared: Prepared

    @classmethod
    def of(cls, shape: Shape, statement: ClauseElement) -> "CompiledStatement":
        """Compile a statement for a database of this shape; the caller caches the result."""
        compiled: Any = statement.compile(dialect=dialect(shape, "format"))
        text = str(compiled)
        return cls(text, compiled.positiontup or (), compiled.params, Prepared.of(text))

    def queue(self, unit: Unit, values: Mapping[str, Any]) -> None:
        """Queue the statement with these parameters; the unit sends it later."""
        given = [values[name] if name in values else self.constants[name] for name in self.names]
        unit.queue(self.text, given, self.prepared)
