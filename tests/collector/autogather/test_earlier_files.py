"""The files that were there before a write are told from the write's own by the jobs in their names."""

from collections.abc import Sequence

import pytest

from hmstats.collector.autogather.earlier_files import earlier_files, job_of
from hmstats.collector.planning.data_files import DataFile

ONE, TWO, THREE = (f"{number}0000000-0000-4000-8000-000000000000" for number in (1, 2, 3))


def file(job: str, task: int = 0, second: int = 0) -> DataFile:
    return DataFile(f"/t/k={ONE}/part-0000{task}-{job}.c000.snappy.parquet", 10, second * 10**9)


FIRST = [file(ONE, 0, 1), file(ONE, 1, 2)]
SECOND = [file(TWO, 0, 5)]


def of(known: Sequence[DataFile]) -> Sequence[DataFile]:
    """What was there before, if what is stored is of the known files."""
    return earlier_files(FIRST + SECOND, len(known), lambda some: list(some) == list(known))


def test_a_jobs_id_is_in_a_files_name_and_not_in_its_folders() -> None:
    assert job_of(file(TWO)) == TWO
    assert job_of(DataFile(f"/t/k={ONE}/000000_0", 10)) == ""


@pytest.mark.parametrize("known", [FIRST, SECOND, FIRST + SECOND])
def test_what_is_stored_tells_the_earlier_files_whatever_their_times(known: list[DataFile]) -> None:
    assert of(known) == known


def test_a_file_without_a_job_may_be_new() -> None:
    files = [*FIRST, DataFile("/t/k=1/000000_0", 10)]
    assert earlier_files(files, 2, lambda some: list(some) == FIRST) == FIRST


def test_if_nothing_is_known_the_newest_files_job_is_the_write() -> None:
    assert earlier_files(FIRST + SECOND, None, lambda _: False) == FIRST
    assert earlier_files([*SECOND, *FIRST], 1, lambda _: False) == FIRST
    assert earlier_files(FIRST, None, lambda _: False) == []
    assert earlier_files([], None, lambda _: False) == []


def test_files_of_three_jobs_are_not_looked_through_for_each() -> None:
    """Many jobs have added to a piece: only rests with as many files as were counted are looked at."""
    jobs = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(500)]
    files = [file(job, task) for job in jobs for task in range(2)] + [file(THREE)]
    looked: list[int] = []

    def known(some: Sequence[DataFile]) -> bool:
        looked.append(len(some))
        return len(some) == 1000

    assert earlier_files(files, 1000, known) == files[:-1]
    assert looked == [1001, 1000]
