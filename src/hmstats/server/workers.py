"""A bounded pool of threads with a bounded queue before it."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Workers(Generic[T]):
    """Threads that hand each job to `work`, which raises nothing. They are daemons: a stuck one holds up no exit."""

    def __init__(self, count: int, max_waiting: int, work: Callable[[T], None]) -> None:
        self._max_waiting = max_waiting
        self._work = work
        self._jobs: SimpleQueue[T | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._run, name=f"hmstats-worker-{number}", daemon=True) for number in range(count)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def submit(self, job: T) -> bool:
        """Queue a job; False when as many wait as may. To be called from one thread."""
        if self._jobs.qsize() >= self._max_waiting:
            return False
        self._jobs.put(job)
        return True

    def stop(self) -> None:
        """Let each thread end after the jobs before it; does not wait."""
        for _ in self._threads:
            self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._work(job)
