"""Kept answers about named partitions: changes of others leave them, and changes of their own are seen at once."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.gateways import wait_until

from hmstats.wire.idl import hive_metastore as api

ASKED = ["p=1", "p=2", "p=9"]


@pytest.fixture
def metastore(tmp_path: Path) -> Iterator[Metastore]:
    """A server whose log has each call, with a table of three partitions."""
    with serving(tmp_path, settings={"log_level": "debug", "workers": 1}) as port:
        found = Metastore("hmstats-sqlite", port, 4.0)
        with found.clients:
            found.client().create_database(api.Database(found.database, "", "", {}))
            found.table("t", {"a": "bigint"}, keys=["p"])
            found.add_partitions(["1"], ["2"], ["3"], table="t", columns={"a": "bigint"})
            yield found


class Questions:
    """Asks for the same named partitions again and again, and reads in the server's log which answers were kept."""

    def __init__(self, metastore: Metastore, folder: Path) -> None:
        self.metastore = metastore
        self._log = folder / "server.log"

    def ask(self) -> tuple[list[tuple[str, str | None]], bool]:
        """Each partition's value with its parameter `number`, and whether the answer was a kept one."""
        before = len(self._outcomes())
        found = self.metastore.client().get_partitions_by_names(self.metastore.database, "t", ASKED)
        wait_until(lambda: len(self._outcomes()) > before)  # a line of the log comes behind its reply
        answer = [(each.values[0], each.parameters.get("number")) for each in found]
        return answer, self._outcomes()[before] == "cached"

    def _outcomes(self) -> list[str]:
        calls = [line for line in self._log.read_text().splitlines() if '"get_partitions_by_names"' in line]
        return [each["outcome"] for each in map(json.loads, calls) if each["event"] == "call"]


def alter(metastore: Metastore, value: str, number: str) -> None:
    client = metastore.client()
    partition = client.get_partition(metastore.database, "t", [value])
    partition.parameters["number"] = number
    client.alter_partition(metastore.database, "t", partition)


def test_answers_about_named_partitions_outlive_changes_of_others(metastore: Metastore, tmp_path: Path) -> None:
    def add(value: str) -> None:
        metastore.add_partitions([value], table="t", columns={"a": "bigint"})

    def drop(value: str) -> None:
        metastore.client().drop_partition(metastore.database, "t", [value], False)

    questions = Questions(metastore, tmp_path)
    first, changed, added = ("1", None), ("2", "8"), ("9", None)
    changes: list[tuple[Callable[[], object], list[tuple[str, str | None]], bool]] = [
        (lambda: alter(metastore, "3", "7"), [first, ("2", None)], True),
        (lambda: alter(metastore, "2", "8"), [first, changed], False),
        (lambda: add("8"), [first, changed], True),
        (lambda: add("9"), [first, changed, added], False),
        (lambda: drop("8"), [first, changed, added], True),
        (lambda: drop("1"), [changed, added], False),
    ]
    for change, expected, kept in changes:
        wait_until(lambda: questions.ask()[1])
        change()
        assert questions.ask() == (expected, kept)
