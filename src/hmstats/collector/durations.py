"""Measures the durations of an analysis, step by step."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from hmstats import tracing


@contextmanager
def measure(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Store the duration of the block in `seconds`, under the name of the step, unless the block raises.

    In a trace the block is a span.
    """
    begin = time.perf_counter()
    with tracing.inner_span(step):
        yield
    seconds[step] = time.perf_counter() - begin
