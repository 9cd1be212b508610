"""A bounded pool of threads with a bounded queue before it."""

import math
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Workers(Generic[T]):
    """Threads that call `work` with each job; a thread that ends with an error is replaced.

    They are daemon threads, so a stuck one does not delay the exit.
    """

    def __init__(
        self, count: int, max_waiting: int, work: Callable[[T], None], max_waiting_bytes: float = math.inf
    ) -> None:
        self._count = count
        self._max_waiting = max_waiting
        self._max_waiting_bytes = max_waiting_bytes
        self._work = work
        self._jobs: SimpleQueue[tuple[T, int] | None] = SimpleQueue()
        self._waiting_bytes = 0
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the threads."""
        for number in range(self._count):
            self._start_thread(f"hmstats-worker-{number}")

    def submit(self, job: T, size_bytes: int = 0) -> bool:
        """Queue a job that holds so many bytes; False if the queue's jobs or bytes are at their limit.

        If the queue is empty, a job of any size is accepted. Call this from one thread only.
        """
        waiting = self._jobs.qsize()
        with self._lock:
            if waiting >= self._max_waiting or (waiting and self._waiting_bytes + size_bytes > self._max_waiting_bytes):
                return False
            self._waiting_bytes += size_bytes
        self._jobs.put((job, size_bytes))
        return True

    def stop(self) -> None:
        """Let the threads end after the queued jobs, without waiting for them."""
        for _ in range(self._count):
            self._jobs.put(None)

    def _start_thread(self, name: str) -> None:
        threading.Thread(target=self._run, args=(name,), name=name, daemon=True).start()

    def _run(self, name: str) -> None:
        told_to_end = False
        try:
            while (queued := self._jobs.get()) is not None:
                job, size_bytes = queued
                with self._lock:
                    self._waiting_bytes -= size_bytes
                self._work(job)
            told_to_end = True
        finally:
            if not told_to_end:
                self._start_thread(name)
