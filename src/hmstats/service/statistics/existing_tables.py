"""The facts of tables that must exist."""

from hmstats.model.catalog.objects import TableName
from hmstats.service.statistics.errors import missing_table
from hmstats.store.statistics import table_facts
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Connection, Unit


def find_facts(connection: Connection, name: TableName) -> TableFacts:
    """Return the table's facts, and note its version. Raises NoSuchObject if the table does not exist."""
    found = table_facts.find(connection, name)
    if found is None:
        raise missing_table(name)
    return found


def lock_facts(unit: Unit, name: TableName) -> TableFacts:
    """Return the table's facts, its row locked until the unit ends. Raises NoSuchObject if it does not exist."""
    found = table_facts.lock(unit, name)
    if found is None:
        raise missing_table(name)
    return found
