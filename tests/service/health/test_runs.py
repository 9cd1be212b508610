"""Leases: of all who want to refresh a table, one does."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.service.statistics.filled import NAME, make_table

from hmstats.errors import InvalidInput, NoSuchObject
from hmstats.model.catalog.objects import Column, Storage, Table, TableName
from hmstats.model.health.runs import Outcome, Run
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.health.runs import MOST, Runs
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.store.health.runs import add
from hmstats.store.unit.unit import Unit

OTHER = replace(NAME, table="other")


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def runs(store: Store, tmp_path: Path, clock: Clock) -> Runs:
    make_table(store, tmp_path, [1])
    store._clock = clock
    return Runs(store)


def run(number: int, outcome: Outcome = Outcome.RUNNING, seconds: float | None = None) -> Run:
    return Run(f"run-{number}", NAME, f"runner-{number}", 0, outcome, ("p=1",), {"score": 0.5}, seconds=seconds)


def test_one_of_many_gets_the_table(runs: Runs) -> None:
    with ThreadPoolExecutor(8) as pool:
        begun = list(pool.map(lambda number: runs.begin(run(number), 60), range(8)))
    assert sum(each.started for each in begun) == 1
    winner = next(number for number, each in enumerate(begun) if each.started)
    assert {each.held_by for each in begun if not each.started} == {f"runner-{winner}"}


def test_a_run_is_recorded_with_its_reason_and_frees_its_table(runs: Runs) -> None:
    assert runs.begin(run(1), 60).started
    assert runs.begin(run(1), 60).started  # a repeated call
    assert not runs.begin(run(2), 60).started
    assert runs.end(run(1, Outcome.DONE, 2.0))
    assert not runs.end(run(1, Outcome.FAILED, 2.0))  # it is over
    assert runs.begin(run(2), 60).started
    newest, oldest = sorted(runs.listed("hive", None, None), key=lambda each: each.id, reverse=True)
    assert (oldest.outcome, oldest.seconds, oldest.partitions) == (Outcome.DONE, 2.0, ("p=1",))
    assert oldest.why == {"score": 0.5}
    assert newest.outcome is Outcome.RUNNING


def test_a_lease_that_nobody_renews_is_taken_over(runs: Runs, clock: Clock) -> None:
    runs.begin(run(1), 60)
    clock.seconds += 59
    assert runs.renew(NAME, "run-1", 60)
    clock.seconds += 59
    assert not runs.begin(run(2), 60).started
    clock.seconds += 2
    assert runs.begin(run(2), 60).started
    assert not runs.renew(NAME, "run-1", 60)
    assert not runs.end(run(1, Outcome.DONE, 9.0))
    assert [each.outcome for each in runs.listed("hive", None, None, "lost")] == [Outcome.LOST]
    assert not runs.begin(run(3), 60).started  # the end of the lost run has freed nothing


def test_a_failed_table_waits(runs: Runs, clock: Clock) -> None:
    runs.begin(run(1), 60)
    runs.end(run(1, Outcome.FAILED, 2.0))
    refused = runs.begin(run(2), 60)
    assert not refused.started
    assert refused.until_ms == clock.seconds * 1_000 + 1_800_000
    ((lease, _),) = runs.leases("hive", None).values()
    assert lease.failures == 1
    clock.seconds += 1_801
    assert runs.begin(run(2), 60).started
    runs.end(run(2, Outcome.DONE, 2.0))
    assert runs.leases("hive", None) == {}


def test_what_is_no_run_is_refused_in_a_sentence(runs: Runs) -> None:
    for wrong, seconds in ((run(1), 0), (run(1), 10_000), (Run("x" * 65, NAME, "me", 0, Outcome.RUNNING), 60)):
        with pytest.raises(InvalidInput):
            runs.begin(wrong, seconds)
    with pytest.raises(NoSuchObject):
        runs.begin(Run("r", TableName("hive", "default", "none"), "me", 0, Outcome.RUNNING), 60)
    with pytest.raises(InvalidInput, match="one of running"):
        runs.listed("hive", None, None, "odd")
    with pytest.raises(InvalidInput, match="ends as"):
        runs.end(run(1))


@pytest.mark.slow
def test_a_run_before_very_many_of_other_tables_is_listed(
    runs: Runs, store: Store, tmp_path: Path, clock: Clock
) -> None:
    made = Table(name=OTHER, storage=Storage(columns=(Column("c", "int"),)), table_type="EXTERNAL_TABLE")
    Tables(store, Warehouse(str(tmp_path))).create(made)
    assert runs.begin(replace(run(0), table=OTHER), 60).started
    runs.end(replace(run(0, Outcome.DONE), table=OTHER))
    clock.seconds += 1

    def add_many(unit: Unit) -> None:
        for number in range(1, MOST + 5):
            add(unit, 1, replace(run(number), started_ms=2**50))

    store.write(add_many)
    assert [each.id for each in runs.listed("hive", None, "oth*")] == ["run-0"]
    assert len(runs.listed("hive", None, None)) == MOST
    assert runs.listed("hive", None, "nothing") == []


def test_an_id_is_of_one_run_alone(runs: Runs) -> None:
    assert runs.begin(run(1), 60).started
    assert runs.end(run(1, Outcome.DONE, 2.0))
    with pytest.raises(InvalidInput, match="run run-1 has begun before"):
        runs.begin(run(1), 60)
    assert runs.leases("hive", None) == {}
    assert [each.outcome for each in runs.listed("hive", None, None)] == [Outcome.DONE]


def test_old_runs_are_removed(runs: Runs, clock: Clock) -> None:
    runs.begin(run(1), 60)
    runs.end(run(1, Outcome.DONE, 2.0))
    clock.seconds += 100
    assert runs.remove_older(200) == 0
    assert runs.remove_older(50) == 1


def test_a_run_is_ended_and_renewed_by_the_name_of_its_own_table(runs: Runs, store: Store, tmp_path: Path) -> None:
    made = Table(name=OTHER, storage=Storage(columns=(Column("c", "int"),)), table_type="EXTERNAL_TABLE")
    Tables(store, Warehouse(str(tmp_path))).create(made)
    assert runs.begin(run(1), 60).started
    strange = replace(run(1, Outcome.FAILED), table=OTHER, reason="not mine")
    assert not runs.end(strange)
    assert not runs.renew(OTHER, "run-1", 60)
    (found,) = runs.listed("hive", None, None)
    assert (found.outcome, found.reason) == (Outcome.RUNNING, None)
    assert runs.end(run(1, Outcome.DONE))
