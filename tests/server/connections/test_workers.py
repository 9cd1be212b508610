import threading
from queue import SimpleQueue

import pytest
from tests.server.serving import PATIENCE_SECONDS

from hmstats.server.connections.workers import Workers


def test_as_many_jobs_wait_as_may() -> None:
    gate, done = threading.Event(), SimpleQueue[int]()
    entered = threading.Event()

    def work(job: int) -> None:
        entered.set()
        assert gate.wait(PATIENCE_SECONDS)
        done.put(job)

    workers = Workers(1, 2, work)
    workers.start()
    assert workers.submit(0)
    assert entered.wait(PATIENCE_SECONDS)
    assert [workers.submit(job) for job in (1, 2, 3)] == [True, True, False]
    gate.set()
    assert [done.get(timeout=PATIENCE_SECONDS) for _ in range(3)] == [0, 1, 2]
    workers.stop()


def test_jobs_that_wait_hold_no_more_bytes_than_they_may() -> None:
    gate, done, entered = threading.Event(), SimpleQueue[int](), threading.Event()

    def work(job: int) -> None:
        entered.set()
        assert gate.wait(PATIENCE_SECONDS)
        done.put(job)

    workers = Workers(1, 100, work, max_waiting_bytes=10)
    workers.start()
    assert workers.submit(0, 7)
    assert entered.wait(PATIENCE_SECONDS)
    assert [workers.submit(job, size) for job, size in ((1, 20), (2, 1))] == [True, False]
    gate.set()
    assert [done.get(timeout=PATIENCE_SECONDS) for _ in range(2)] == [0, 1]
    assert workers.submit(3, 10)
    assert done.get(timeout=PATIENCE_SECONDS) == 3
    workers.stop()


def test_a_thread_that_ends_in_an_error_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    done, errors = SimpleQueue[int](), SimpleQueue[type[BaseException]]()
    monkeypatch.setattr(threading, "excepthook", lambda arguments: errors.put(arguments.exc_type))

    def work(job: int) -> None:
        if job < 3:
            raise ZeroDivisionError
        done.put(job)

    workers = Workers(1, 10, work)
    workers.start()
    assert all(workers.submit(job) for job in range(5))
    assert [done.get(timeout=PATIENCE_SECONDS) for _ in range(2)] == [3, 4]
    assert [errors.get(timeout=PATIENCE_SECONDS) for _ in range(3)] == [ZeroDivisionError] * 3
    workers.stop()
