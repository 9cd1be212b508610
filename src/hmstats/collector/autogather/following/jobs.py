"""Assigns files to writes: a job has an id, which is part of the names of its files.

Spark reports how many files and bytes each write left. The job with exactly these numbers belongs to the write.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hmstats.collector.autogather.earlier_files import job_of
from hmstats.collector.autogather.following.commands import Write
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.prepare import Files


@dataclass(frozen=True, slots=True)
class Jobs:
    """The ids of the writes' jobs. `missing` are the writes without a job: their files do not exist."""

    ids: frozenset[str]
    missing: Sequence[Write]


def jobs_of(files: Files, writes: Sequence[Write], clocks_ns: int) -> Jobs:
    """The jobs of these writes, which are in the order in which they ended.

    Of several jobs with equal numbers, the newest are assigned to the last writes, and none to a write that began after
    the job. The clocks of the file system and of the driver may differ by `clocks_ns`.
    """
    groups = _groups(files.values())
    newest = sorted(groups, key=lambda job: _last_ns(groups[job]), reverse=True)
    ids: set[str] = set()
    missing: list[Write] = []
    for write in reversed(writes):
        counts = (write.files, write.size_bytes)
        since_ns = write.began_ns - clocks_ns
        left = (each for each in newest if each not in ids and _last_ns(groups[each]) >= since_ns)
        job = next((each for each in left if _counts(groups[each]) == counts), None)
        if job is not None:
            ids.add(job)
        elif write.files:
            missing.append(write)
    return Jobs(frozenset(ids), missing[::-1])


def without_jobs(files: Files, ids: frozenset[str]) -> Mapping[str, Sequence[DataFile]]:
    """The files that belong to none of these jobs."""
    return {name: [each for each in some if job_of(each) not in ids] for name, some in files.items()}


def _groups(pieces: Iterable[Sequence[DataFile]]) -> dict[str, list[DataFile]]:
    found: dict[str, list[DataFile]] = defaultdict(list)
    for each in (file for files in pieces for file in files):
        if job := job_of(each):
            found[job].append(each)
    return found


def _counts(files: Sequence[DataFile]) -> tuple[int, int]:
    return len(files), sum(each.bytes for each in files)


def _last_ns(files: Sequence[DataFile]) -> int:
    return max(each.modified_ns or 0 for each in files)
