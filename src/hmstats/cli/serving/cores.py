"""Counts the cores that a server may use: those that it may run on, within the share of its control groups.

Docker and Kubernetes limit a container by its share of the processors' time, while it sees all cores of the machine.
The files are those of cgroup v2 (https://docs.kernel.org/admin-guide/cgroup-v2.html, cpu.max) and of version 1
(https://docs.kernel.org/scheduler/sched-bwc.html).
"""

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

_OWN_GROUPS, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
_CONTROLLER = "cpu"
_NO_LIMIT = ("max", "-1")


def usable_cores(own_groups: Path = _OWN_GROUPS, groups: Path = _GROUPS) -> int:
    """The cores that this process may use, at least one.

    `own_groups` lists the control groups that it is in, whose files are below `groups`.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min([cores, *map(math.ceil, _shares(own_groups, groups))]))


def _shares(own_groups: Path, groups: Path) -> Iterator[float]:
    """The number of cores whose time each control group allows that the process is in, or that is above."""
    for line in _lines(own_groups):
        _, controllers, path = line.split(":", 2)
        if controllers and _CONTROLLER not in controllers.split(","):
            continue
        root = groups / _CONTROLLER if controllers else groups
        # In a container the path may be the machine's, and the root its own group.
        own = root / path.lstrip("/")
        for folder in (own, *(each for each in own.parents if each.is_relative_to(root))):
            quota, period = _version_1(folder) if controllers else _version_2(folder)
            if quota not in _NO_LIMIT:
                yield int(quota) / int(period)


def _version_1(folder: Path) -> tuple[str, str]:
    quota, period = (_lines(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    return (quota[0], period[0]) if quota and period else ("-1", "")


def _version_2(folder: Path) -> tuple[str, str]:
    found = _lines(folder / "cpu.max")
    quota, _, period = (found[0] if found else "max").partition(" ")
    return quota, period


def _lines(path: Path) -> list[str]:
    """The lines of a file; none if there is no such file."""
    try:
        return path.read_text("utf-8").splitlines()
    except OSError:
        return []
