"""To which table with a log of its own a plan of Spark's commits.

The plans are as Spark, Iceberg and Delta Lake make them.
"""

from typing import Any

import pytest

from hmstats.client.naming import table_of
from hmstats.collector.autogather.following.commits import Commit, commit_of
from hmstats.collector.autogather.following.listener import Listener


class Some:
    """What Py4J makes of an option of Scala's, or of a value that a method returns."""

    def __init__(self, value: Any = None) -> None:
        self._value = value

    def isDefined(self) -> bool:  # noqa: N802 - Scala's name
        return self._value is not None

    def get(self) -> Any:
        return self._value


class Java:
    """An object of a class of Java's, whose methods return these values."""

    def __init__(self, kind: str, **values: Any) -> None:
        self._kind = kind
        for name, value in values.items():
            setattr(self, name, lambda value=value: value)

    def getClass(self) -> Any:  # noqa: N802 - Java's name
        return Java("Class", getSimpleName=self._kind)


def identifier(*namespace: str) -> Java:
    return Java("IdentifierImpl", namespace=namespace, name="t")


def relation(*namespace: str) -> Java:
    return Java("DataSourceV2Relation", identifier=Some(identifier(*namespace)))


PLANS = {
    "append": Java("AppendData", table=relation("shop")),
    "merge": Java("WriteDelta", table=relation("shop")),
    "delete": Java("DeleteFromTable", table=Java("SubqueryAlias", child=relation("shop"))),
    "create": Java("CreateTableAsSelect", name=Java("ResolvedIdentifier", identifier=identifier("shop"))),
    "merge of Delta": Java(
        "MergeIntoCommand",
        catalogTable=Some(Java("CatalogTable", identifier=Java("", database=Some("shop"), table="t"))),
    ),
}
OTHERS = {
    "query": Java("Project"),
    "deeper namespace": Java("AppendData", table=relation("a", "b")),
    "directory": Java("AppendData", table=Java("DataSourceV2Relation", identifier=Some())),
    "merge into a directory": Java("MergeIntoCommand", catalogTable=Some()),
    "other relation": Java("DeleteFromTable", table=Java("LogicalRelation")),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_table_of_a_commit(plan: Java) -> None:
    assert commit_of(plan) == Commit(table_of(["shop", "t"]))


@pytest.mark.parametrize("plan", OTHERS.values(), ids=OTHERS)
def test_what_is_no_commit_to_a_table_of_a_database(plan: Java) -> None:
    assert commit_of(plan) is None


def test_a_commit_is_told_of_once_although_its_result_is_collected() -> None:
    told: list[Any] = []
    command, run = PLANS["append"], Java("AppendDataExec")
    Listener(told.append).onSuccess("command", execution(command, command, run), 1)
    Listener(told.append).onSuccess("collect", execution(command, Java("CommandResult"), Java("CommandResultExec")), 1)
    assert told == [Commit(table_of(["shop", "t"]))]


def execution(command: Java, executed: Java, physical: Java) -> Java:
    phases = Java("Map", values=Java("Iterable", iterator=Java("Iterator", hasNext=False)))
    tracker = Java("QueryPlanningTracker", phases=phases)
    return Java("QueryExecution", analyzed=command, commandExecuted=executed, executedPlan=physical, tracker=tracker)
