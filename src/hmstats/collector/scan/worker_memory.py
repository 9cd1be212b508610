"""Keeps what a task has loaded out of the garbage collections of its process.

A Python worker of Spark collects garbage behind each task, and looks at all that its modules have made: a tenth of a
second, more than many a task takes. Modules stay for as long as the process lives.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_seen_modules = 0
"""How many modules were loaded when objects were left out last."""


def freeze_modules(task: Callable[Arguments, Iterator[Result]]) -> Callable[Arguments, Iterator[Result]]:
    """Decorate a task so that later collections leave out what was loaded for it. At the driver nothing changes."""

    @wraps(task)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Iterator[Result]:
        yield from task(*args, **kwargs)
        if _is_worker():
            _freeze_new_modules()

    return run


def _is_worker() -> bool:
    from pyspark import TaskContext  # noqa: PLC0415 - Spark is there where tasks run

    return TaskContext.get() is not None


def _freeze_new_modules() -> None:
    global _seen_modules  # noqa: PLW0603 - the process has one heap
    if len(sys.modules) == _seen_modules:
        return
    _seen_modules = len(sys.modules)
    gc.collect()  # what is garbage by now would stay for ever
    gc.freeze()
