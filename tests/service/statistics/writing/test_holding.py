"""Writes that wait, and publishes: as many statements for two partitions as for 40."""

from pathlib import Path

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, make_table, of_longs, of_partition

from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.preferences.preference import Subject
from hmstats.model.preferences.values import PUBLISH
from hmstats.service.catalog.tables.preferences import StatisticsPreferences
from hmstats.service.statistics.pending import PendingStatistics
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.store.database.store import Store


def test_statements_do_not_grow_with_partitions(store: Store, tmp_path: Path, statements: StatementCounter) -> None:
    make_table(store, tmp_path, range(80))
    subject = Subject(DatabaseName("hive", "default"), "t")
    StatisticsPreferences(store).change(subject, {PUBLISH: "false"}, [], None)
    writer = StatisticsWriter(store)
    pending = PendingStatistics(store, writer)

    def sent_for(numbers: range) -> list[int]:
        counts = []
        sets = [of_partition(each, l=of_longs(0, each + 2)) for each in numbers]
        changes = {f"p={each}": ParameterChange({"numRows": str(each)}) for each in numbers}
        for _ in range(2):  # the second replaces what waits
            with statements() as sent:
                writer.update_partitions(NAME, sets, changes=changes)
            counts.append(len(sent))
        with statements() as sent:
            assert pending.publish(NAME, None, "somebody").written == len(numbers)
        return [*counts, len(sent)]

    sent_for(range(2))
    few, many = sent_for(range(2)), sent_for(range(2, 42))
    assert many == pytest.approx(few, abs=2)  # parameters that are not there yet are inserted
