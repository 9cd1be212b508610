"""The parent of the worker processes: starts them, replaces those that end, and ends or replaces them when told to.

The parent serves no client and holds no data for calls. Everything but `stop` and `reload` runs in one thread.
"""

import selectors
import time
from collections import deque
from collections.abc import Callable
from functools import partial

import structlog

from hmstats.server.processes.worker_process import HOPELESS, WorkerProcess
from hmstats.server.processes.worker_slot import Slot, Start
from hmstats.server.sockets.neighbours import Neighbourhood
from hmstats.server.sockets.port import Port
from hmstats.server.sockets.wakeup import Wakeup

_LONGEST_SLEEP_SECONDS = 1.0
_KILL_SECONDS = 5.0
"""How long after its deadline a worker that has not ended is killed."""

_log = structlog.get_logger("hmstats.parent")


class Supervisor:
    """Keeps `count` workers running on a port.

    If `alone`, no two run at once: a worker that is replaced ends first, and clients wait for the next. `announce` is
    called once, when all are ready, `buried` with the id of each process that has ended, and `reloading` before workers
    are replaced.
    """

    def __init__(
        self,
        port: Port,
        start: Start,
        count: int,
        drain_seconds: float,
        *,
        alone: bool = False,
        announce: Callable[[], None],
        buried: Callable[[int], None] = lambda _: None,
        reloading: Callable[[], None] = lambda: None,
    ) -> None:
        self._neighbourhood = Neighbourhood(count)
        self._slots = tuple(Slot(number, port, self._neighbourhood, start) for number in range(count))
        self._drain_seconds = drain_seconds
        self._alone = alone
        self._announce = announce
        self._on_ended = buried
        self._reloading = reloading
        self._announced = False
        self._selector = selectors.DefaultSelector()
        self._wakeup = Wakeup()
        self._living: set[WorkerProcess] = set()
        self._leaving: set[WorkerProcess] = set()
        """Workers that were ordered to end; another starts in the slot of each."""
        self._stop_asked = self._reload_asked = False
        self._to_replace: deque[Slot] = deque()
        self._to_stop: deque[Slot] = deque()
        self._stop_by: float | None = None
        self._next_stop: float = 0.0
        self.deaths = 0
        """How many workers ended unexpectedly; counted after a successor was scheduled."""

    @property
    def ready(self) -> int:
        """How many workers serve clients; 0 while the server stops. Thread-safe."""
        if self._stop_asked:
            return 0
        return sum(1 for slot in self._slots if (worker := slot.worker) is not None and worker.ready)

    def stop(self) -> None:
        """Stop all workers, one after another; takes no lock, so a signal handler may call it."""
        self._stop_asked = True
        self._wakeup.wake()

    def reload(self) -> None:
        """Replace all workers, one after another; takes no lock, so a signal handler may call it."""
        self._reload_asked = True
        self._wakeup.wake()

    def run(self) -> bool:
        """Run until all workers have ended after `stop`; returns whether all of them were ready once."""
        self._selector.register(self._wakeup, selectors.EVENT_READ, self._wakeup.clear)
        for slot in self._slots:
            self._watch(slot.start())
        while self._living or self._stop_by is None:
            for key, _ in self._selector.select(self._sleep_seconds()):
                key.data()
            self._update_workers()
        for slot in self._slots:
            slot.close()
        self._selector.close()
        self._wakeup.close()
        self._neighbourhood.close()
        return self._announced

    def _sleep_seconds(self) -> float:
        dues = [slot.due for slot in self._slots if slot.due is not None]
        if self._to_stop:
            dues.append(self._next_stop)
        now = time.monotonic()
        return min([_LONGEST_SLEEP_SECONDS, *(max(0.0, due - now) for due in dues)])

    def _update_workers(self) -> None:
        now = time.monotonic()
        if self._stop_asked and self._stop_by is None:
            self._begin_stop(now)
        if self._stop_by is not None:
            self._stop_next(now, self._stop_by)
            return
        if self._reload_asked:
            self._reload_asked = False
            self._reloading()
            self._to_replace.extend(slot for slot in self._slots if slot not in self._to_replace)
        self._replace_next()
        for slot in self._slots:
            if slot.due is not None and slot.due <= now:
                self._watch(slot.start())

    def _begin_stop(self, now: float) -> None:
        _log.info("stopping", workers=len(self._living))
        self._stop_by = now + self._drain_seconds
        self._next_stop = now
        self._to_stop.extend(self._slots)
        for slot in self._slots:
            if slot.successor is not None:
                slot.successor.drain(0)

    def _stop_next(self, now: float, stop_by: float) -> None:
        """Stop the next worker once the previous one has ended, or has used its share of the time.

        So the others serve while one drains, and a call that was running at the stop has the whole time.
        """
        while self._to_stop and now >= self._next_stop:
            slot = self._to_stop.popleft()
            slot.close()
            if slot.worker is not None:
                slot.worker.drain(max(0.0, stop_by - now))
                self._next_stop = now + self._drain_seconds / len(self._slots)
        if now > stop_by + _KILL_SECONDS:
            for worker in self._living:
                _log.error("worker_killed", worker=worker.number, pid=worker.pid)
                worker.kill()

    def _replace_next(self) -> None:
        """Start the next worker's successor if no successor is starting."""
        if self._to_replace and all(slot.successor is None for slot in self._slots):
            slot = self._to_replace.popleft()
            if slot.worker is None:
                return  # a new one will be started anyway
            if self._alone:
                self._leaving.add(slot.worker)
                slot.worker.drain(self._drain_seconds)
            else:
                self._watch(slot.start_successor())

    def _watch(self, worker: WorkerProcess) -> None:
        _log.info("worker_started", worker=worker.number, pid=worker.pid)
        self._living.add(worker)
        self._selector.register(worker, selectors.EVENT_READ, partial(self._read_status, worker))

    def _read_status(self, worker: WorkerProcess) -> None:
        slot = self._slots[worker.number]
        if not worker.listen():
            self._handle_ended(worker, slot)
        elif worker is slot.successor:
            self._take_over(slot)
        if not self._announced and all(each.worker is not None and each.worker.ready for each in self._slots):
            self._announced = True
            self._announce()

    def _take_over(self, slot: Slot) -> None:
        previous = slot.take_over()
        if previous is not None:
            previous.drain(self._drain_seconds)

    def _handle_ended(self, worker: WorkerProcess, slot: Slot) -> None:
        self._selector.unregister(worker)
        self._living.discard(worker)
        status = worker.reap()
        self._on_ended(worker.pid)
        expected = self._stop_by is not None or worker not in (slot.worker, slot.successor) or worker in self._leaving
        log = _log.info if expected else _log.error
        log("worker_ended", worker=worker.number, pid=worker.pid, status=status)
        if worker in self._leaving and self._stop_by is None:
            self._leaving.discard(worker)
            slot.ended()
            return
        if expected:
            self._next_stop = min(self._next_stop, time.monotonic())
            return
        if worker is slot.successor:
            slot.successor = None
            self._to_replace.clear()
        elif slot.successor is not None:
            slot.take_over()
        elif self._announced or status != HOPELESS:
            slot.ended()
        else:
            self.stop()
        self.deaths += 1
