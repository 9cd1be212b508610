"""Which job is of which write: by files and bytes, and by time if writes are alike."""

from hmstats.collector.autogather.following.commands import Write
from hmstats.collector.autogather.following.jobs import jobs_of
from hmstats.collector.planning.data_files import DataFile

IDS = [f"{number:08x}-0000-0000-0000-000000000000" for number in range(4)]
SECOND = 10**9


def files_of(number: int, at: float, size: int = 10, count: int = 2) -> list[DataFile]:
    return [DataFile(f"/t/part-{each}-{IDS[number]}.c000", size, int(at * SECOND)) for each in range(count)]


def write(began: float, ended: float, size: int = 20, count: int = 2) -> Write:
    return Write(None, None, count, 1, size, int(began * SECOND), int(ended * SECOND))


def jobs(files: list[DataFile], *writes: Write, clocks: float = 0.0) -> tuple[set[int], list[Write]]:
    found = jobs_of({"": files}, writes, int(clocks * SECOND))
    return {IDS.index(each) for each in found.ids}, list(found.missing)


def test_a_write_has_the_job_with_its_files_and_bytes() -> None:
    files = [*files_of(0, 1), *files_of(1, 2, size=11), *files_of(2, 2, count=3)]
    assert jobs(files, write(1, 3, 22)) == ({1}, [])
    assert jobs(files, write(1, 3, 30, 3), write(0, 3)) == ({0, 2}, [])
    assert jobs(files, lost := write(1, 3, 21)) == (set(), [lost])


def test_of_jobs_alike_the_newest_are_of_the_last_writes() -> None:
    files = [*files_of(0, 1), *files_of(1, 3), *files_of(2, 5)]
    assert jobs(files, write(2, 3), write(4, 5)) == ({1, 2}, [])
    assert jobs(files, write(4, 5)) == ({2}, [])


def test_no_write_has_the_files_of_one_before_it() -> None:
    first, second = write(0, 1), write(2, 3)
    assert jobs(files_of(0, 1), first, second) == ({0}, [second])
    assert jobs(files_of(0, 1), first, second, clocks=5) == ({0}, [first])


def test_a_write_without_files_misses_none() -> None:
    assert jobs(files_of(0, 1), write(0, 1, 0, 0)) == (set(), [])
