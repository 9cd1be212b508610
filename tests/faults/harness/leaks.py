"""What worker processes hold open, and what the database knows of it: both are bounded, and the same."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import create_engine, make_url, text
from tests.faults.harness.worker_processes import Workers, wait_until

from hmstats.store.database.store import database_url

THREADS = 4
MOST_A_WORKER = 3 * THREADS + 3
"""Connections to PostgreSQL: pools of readers, writers and checks, one for ids, one that checks kept answers, one
that shows that the worker lives."""
MOST_FILES = 2 * 2 * THREADS + 1
"""Files of SQLite: pools of readers and writers, with the database and its log each, and what they share."""
_OPEN = "01"
_CONNECTIONS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'hmstats'"


def open_files(pid: int) -> int:
    """The file descriptors of a process."""
    return len(list((Path("/proc") / str(pid) / "fd").iterdir()))


def database_connections(url: str) -> int:
    """How many connections of servers of ours a PostgreSQL counts in a database."""
    return len(database_sessions(url))


def database_sessions(url: str) -> set[int]:
    """The processes of a PostgreSQL that serve hmstats in a database; to SQLite there are none."""
    if make_url(url).get_backend_name() == "sqlite":
        return set()
    engine = create_engine(database_url(url))
    with engine.connect() as connection:
        pids = set(connection.execute(text(_CONNECTIONS)).scalars())
    engine.dispose()
    return pids


def check_connections(server: Workers, url: str) -> str:
    """Fails when a PostgreSQL counts more connections than the workers of now may have: killed ones leave none.

    Says how many there are; to SQLite there are none.
    """
    if make_url(url).get_backend_name() == "sqlite":
        return "no connections to count"
    wait_until(lambda: database_connections(url) <= server.count * MOST_A_WORKER)
    return f"{database_connections(url)} connections to the database"


def sockets_to(pid: int, port: int) -> dict[str, int]:
    """The sockets of a process that are, or were, connected to a port, by Linux's code of their state; 01 is open."""
    return Counter(socket.state for socket in _sockets(pid) if socket.remote == port)


def clients_of(pid: int, port: int) -> int:
    """The connections of others to a port that a process holds."""
    return sum(1 for socket in _sockets(pid) if socket.local == port and socket.state == _OPEN)


class _Socket(NamedTuple):
    local: int
    remote: int
    state: str


def _sockets(pid: int) -> Iterator[_Socket]:
    own = {link.name for link in _links(pid)}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if f"socket:[{fields[9]}]" in own:
            local, remote = (int(fields[at].rpartition(":")[2], 16) for at in (1, 2))
            yield _Socket(local, remote, fields[3])


def _links(pid: int) -> list[Path]:
    found = []
    for each in (Path("/proc") / str(pid) / "fd").iterdir():
        try:
            found.append(each.readlink())
        except OSError:  # closed meanwhile
            continue
    return found


def _held(pid: int) -> list[str]:
    """What a process holds open, for a message."""
    return [*map(str, _links(pid)), *map(str, _sockets(pid))]


def check_leaks(server: Workers, url: str, files_before: dict[int, int], port: int | None = None) -> str:
    """Fails when workers hold more of anything than they may, and says what they hold.

    To be called when nobody calls the server. `files_before`: the open files of each worker before its first call.
    `port` is where the workers reach the database, the one of `url` when left out.
    """
    wait_until(lambda: server.metric("hmstats_connections") == 0)
    pids = server.alive()
    assert pids == files_before.keys(), "a worker was lost"
    more = {pid: open_files(pid) - files_before[pid] for pid in pids}
    parsed = make_url(url)
    is_sqlite = parsed.get_backend_name() == "sqlite"
    most = MOST_FILES if is_sqlite else MOST_A_WORKER
    assert max(more.values()) <= most, f"files left open: {[_held(pid) for pid, many in more.items() if many > most]}"
    if is_sqlite:
        return f"{max(more.values())} files more than at first"
    sockets = [sockets_to(pid, port or parsed.port or 0) for pid in pids]
    held = sum(sum(each.values()) for each in sockets)
    wait_until(lambda: database_connections(url) <= held)
    assert all(sum(each.values()) <= MOST_A_WORKER for each in sockets), sockets
    return f"{held} connections to the database, {max(more.values())} files more than at first"
