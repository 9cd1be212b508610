"""What processes cost: the processor's time of whoever listens on a port, children included, as Linux tells it."""

import os
from pathlib import Path
from typing import NamedTuple

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_LISTENS = "0A"
_PROCESSES = Path("/proc")


class Memory(NamedTuple):
    """Megabytes of 2^20 bytes of a process: the most that were resident, those that are, its share of these (PSS)."""

    peak: float
    resident: float
    share: float


def listener_of(port: int) -> int:
    """The id of the process that listens on a port; of a server's processes the first, the parent.

    Raises LookupError when there is none.
    """
    inodes = {f"socket:[{inode}]" for inode in _listening(port)}
    began = {}
    for process in _PROCESSES.glob("[0-9]*"):
        try:
            links = {str(each.readlink()) for each in (process / "fd").iterdir()}
            if links & inodes:
                began[int(process.name)] = int(_fields(process)[19])
        except OSError:  # it ended, or is another user's
            continue
    if not began:
        raise LookupError(f"a process should listen on port {port}, found none")
    return min(began, key=began.__getitem__)


def cpu_seconds(process: int) -> float:
    """User and system time of a process and all below it, those that have ended included, since they began."""
    return sum(sum(map(int, fields[11:15])) for fields in family_of(process).values()) / _TICKS_PER_SECOND


def bytes_read(process: int) -> int:
    """What a process and all that run below it have read since they began, of files, pipes and sockets alike."""
    found = 0
    for each in family_of(process):
        lines = (_PROCESSES / str(each) / "io").read_text().splitlines()
        found += sum(int(line.split()[1]) for line in lines if line.startswith("rchar:"))
    return found


def peak_megabytes(process: int) -> float:
    """The most memory that a process and all below it have held, each at its own time."""
    return sum(memory_of(each).peak for each in family_of(process))


def memory_of(process: int) -> Memory:
    """The memory of a process without those below it; what it shares with others counts for each in a part."""
    folder = _PROCESSES / str(process)
    lines = [line.split() for name in ("status", "smaps_rollup") for line in (folder / name).read_text().splitlines()]
    kilobytes = {line[0]: int(line[1]) for line in lines if line[0] in ("VmHWM:", "VmRSS:", "Pss:")}
    return Memory(*(kilobytes[name] / 1024 for name in ("VmHWM:", "VmRSS:", "Pss:")))


def family_of(process: int) -> dict[int, list[str]]:
    """By id the fields of /proc/<id>/stat, from the state on, of a process and all below it."""
    every = {}
    for each in _PROCESSES.glob("[0-9]*"):
        try:
            every[int(each.name)] = _fields(each)
        except OSError:
            continue
    family = found = {process}
    while found:
        found = {each for each, fields in every.items() if int(fields[1]) in family} - family
        family = family | found
    return {each: every[each] for each in family if each in every}


def _fields(process: Path) -> list[str]:
    """What Linux tells of a process behind its name: the state, the parent's id and so on."""
    return (process / "stat").read_text().rpartition(")")[2].split()


def _listening(port: int) -> set[str]:
    """The inodes of sockets that listen on a port."""
    lines = [
        line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]
    ]
    return {line[9] for line in lines if line[3] == _LISTENS and int(line[1].rpartition(":")[2], 16) == port}
