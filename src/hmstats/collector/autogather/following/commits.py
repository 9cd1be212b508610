"""Finds the table that a command of a session committed to, if the table keeps its own log, as Iceberg and Delta do."""

from dataclasses import dataclass
from typing import Any

from hmstats.client.naming import table_of
from hmstats.model.catalog.objects import TableName

_TO_A_RELATION = {
    "AppendData",
    "DeleteFromTable",
    "OverwriteByExpression",
    "OverwritePartitionsDynamic",
    "ReplaceData",
    "WriteDelta",
}
"""Spark's commands that contain the relation of the changed table; MERGE and UPDATE are planned as one of them."""
_CREATING = {"CreateTableAsSelect", "ReplaceTableAsSelect"}
_OF_DELTA_LAKE = {"DeleteCommand", "MergeIntoCommand", "UpdateCommand"}
"""Delta Lake's own commands, which contain the metastore's table if there is one."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A finished commit to a table."""

    table: TableName


def commit_of(plan: Any) -> Commit | None:
    """The commit in an analysed plan of Spark; None if it commits to no table in a catalog's database."""
    kind = plan.getClass().getSimpleName()
    if kind in _OF_DELTA_LAKE:
        known = plan.catalogTable()
        return _commit(known.get().identifier()) if known.isDefined() else None
    if kind in _CREATING:
        return _of_identifier(plan.name().identifier())
    if kind not in _TO_A_RELATION:
        return None
    relation = plan.table()
    while relation.getClass().getSimpleName() == "SubqueryAlias":
        relation = relation.child()
    if relation.getClass().getSimpleName() != "DataSourceV2Relation" or not relation.identifier().isDefined():
        return None
    return _of_identifier(relation.identifier().get())


def _commit(identifier: Any) -> Commit:
    database = identifier.database()
    return Commit(table_of([*([database.get()] if database.isDefined() else []), identifier.table()]))


def _of_identifier(identifier: Any) -> Commit | None:
    """The table of an identifier of Spark's catalogs; None if its namespace is not a database."""
    namespace = list(identifier.namespace())
    return Commit(table_of([*namespace, identifier.name()])) if len(namespace) == 1 else None
