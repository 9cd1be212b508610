"""Polls for the next event for a moment before sleeping.

Falling asleep and waking up takes longer than answering a small call, most of all on an idle virtual machine, which
gives its processor back meanwhile. A client often sends its next request a moment after a reply, and the database
answers as fast.
"""

import os
import selectors
import time

Ready = list[tuple[selectors.SelectorKey, int]]

_WANTED_SECONDS = 0.00001
"""How long a yield of the processor takes if another thread wants it; if none does, a tenth of that."""


def busy_poll(selector: selectors.BaseSelector, seconds: float) -> Ready:
    """The events within so many seconds; empty as soon as another thread or process wants the processor."""
    now = time.monotonic()
    give_up = now + seconds
    while now < give_up:
        if ready := selector.select(0):
            return ready
        offered = time.monotonic()
        os.sched_yield()
        now = time.monotonic()
        if now - offered > _WANTED_SECONDS:
            break
    return []
