"""A bounded pool of threads with a bounded queue before it."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Workers(Generic[T]):
    """Threads that hand each job to `work`, which should raise nothing: one that ends in an error is replaced.

    They are daemons, so a stuck one holds up no exit.
    """

    def __init__(self, count: int, max_waiting: int, work: Callable[[T], None]) -> None:
        self._count = count
        self._max_waiting = max_waiting
        self._work = work
        self._jobs: SimpleQueue[T | None] = SimpleQueue()

    def start(self) -> None:
        """Start the threads."""
        for number in range(self._count):
            self._start_thread(f"hmstats-worker-{number}")

    def submit(self, job: T) -> bool:
        """Queue a job; False when as many wait as may. To be called from one thread."""
        if self._jobs.qsize() >= self._max_waiting:
            return False
        self._jobs.put(job)
        return True

    def stop(self) -> None:
        """Let each thread end after the jobs before it; does not wait."""
        for _ in range(self._count):
            self._jobs.put(None)

    def _start_thread(self, name: str) -> None:
        threading.Thread(target=self._run, args=(name,), name=name, daemon=True).start()

    def _run(self, name: str) -> None:
        told_to_end = False
        try:
            while (job := self._jobs.get()) is not None:
                self._work(job)
            told_to_end = True
        finally:
            if not told_to_end:
                self._start_thread(name)
