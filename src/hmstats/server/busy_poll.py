"""Looking for the next event for a moment before sleeping.

To fall asleep and be woken takes longer than to answer a small call, and most so where nothing else has the processor
awake: on a virtual machine it is given back meanwhile. A moment later whoever waits for one reply has sent the next
request, and the database its answer.
"""

import os
import selectors
import time

Ready = list[tuple[selectors.SelectorKey, int]]

_WANTED_SECONDS = 0.00001
"""It takes a tenth of that to offer the processor to others when nobody wants it."""


def busy_poll(selector: selectors.BaseSelector, seconds: float) -> Ready:
    """What becomes ready within so many seconds; nothing as soon as somebody else wants the processor."""
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
