"""Keeps the lease of a table while it is analysed: a thread renews it, over a connection of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hmstats.client import connect
from hmstats.errors import HmstatsError
from hmstats.model.health.runs import Run
from hmstats.program_log import ProgramLog

_log = ProgramLog("hmstats.refresh")
LEASE_SECONDS = 60
"""How long a table stays reserved after the process that refreshes it was killed."""


@contextmanager
def keep_lease(metastore: str, run: Run, lease_seconds: int) -> Iterator[threading.Event]:
    """Renew the lease of a run during the block. The event is set when another run has got the table."""
    ended, lost = threading.Event(), threading.Event()

    def renew() -> None:
        with connect(metastore) as service:
            while not ended.wait(lease_seconds / 3):
                try:
                    if not service.runs.renew(run, lease_seconds):
                        lost.set()
                        return
                except HmstatsError as error:  # the lease may outlive the outage; the next try tells
                    _log.warning("lease_not_renewed", table=str(run.table), error=str(error))

    thread = threading.Thread(target=renew, name="hmstats-lease", daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        ended.set()
        thread.join(timeout=lease_seconds)
