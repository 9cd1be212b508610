"""Separates the files that a write left from those that existed before, when both are only seen after the write.

A job has an id, which is part of the names of its files.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from hmstats.collector.planning.data_files import DataFile

_JOB = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Files = Sequence[DataFile]


def job_of(file: DataFile) -> str:
    """The id of the job that wrote a file, by its name; "" if there is none."""
    found = _JOB.search(file.path.rpartition("/")[2])
    return found[0] if found else ""


def earlier_files(files: Files, stored: int | None, are_known: Callable[[Files], bool]) -> Files:
    """The files of a piece that existed before the write.

    If the stored statistics are of all files except one job's, that job's files are new: `stored` is the number of
    files that the statistics are of, None if unknown, and `are_known` tells whether they are of the given files.
    Otherwise the job of the newest file is taken for the write, and `are_known` is false of the result.
    """
    if are_known(files):
        return files
    sizes = Counter(map(job_of, files))
    for job, size in sizes.items():
        others = _without(files, job)
        if len(files) - size == stored and are_known(others):
            return others
    return _without(files, job_of(max(files, key=lambda file: file.modified_ns or 0))) if files else files


def _without(files: Files, job: str) -> Files:
    return [file for file in files if job_of(file) != job]
