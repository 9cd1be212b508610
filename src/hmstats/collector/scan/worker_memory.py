"""Excludes modules that a task has loaded from the garbage collections of its process.

A Python worker of Spark collects garbage after each task, and traverses all objects that its modules have made: that
takes a tenth of a second, more than many tasks. Modules stay as long as the process lives.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_seen_modules = 0
"""The number of loaded modules when objects were last excluded."""


def freeze_modules(task: Callable[Arguments, Iterator[Result]]) -> Callable[Arguments, Iterator[Result]]:
    """Decorate a task so that later collections exclude what was loaded for it. In the driver nothing changes."""

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
    gc.collect()  # objects that are garbage now would stay for ever
    gc.freeze()
