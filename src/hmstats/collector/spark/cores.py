"""Estimates how many cores a job may get: executors may join a session after the job was split into tasks."""

import time

from pyspark import SparkConf, SparkContext

_UNBOUNDED_EXECUTORS = 100
"""The most executors that are expected, since dynamic allocation without a limit gives no number."""
_JOINING_SECONDS = 60.0
"""How long executors of a standalone cluster may take to join; no job starts before the first."""
_SETTLED_SECONDS = 2.0
"""How long no executor must join before the wait ends; at least half of the time that joining took so far."""
_LOOK_SECONDS = 0.1


def expected_cores(context: SparkContext) -> int:
    """The cores of the present executors, or those that the session's settings allow, if these are more.

    If `spark.default.parallelism` is set, it is that number. A session on one machine has its cores at once. One on a
    standalone cluster that may take all cores gets them a few seconds after its start; this function waits for them.
    """
    conf = context.getConf()
    if context.master.startswith("local") or conf.contains("spark.default.parallelism"):
        return _present_cores(context)
    allowed = _allowed_cores(conf) // _number(conf, "spark.task.cpus", 1)
    if not allowed and context.master.startswith("spark:"):
        _wait_for_executors(context)
    return max(_present_cores(context), allowed)


def _present_cores(context: SparkContext) -> int:
    there: int = context.defaultParallelism
    return there


def _wait_for_executors(context: SparkContext) -> None:
    """Wait until no more executors join a session that has just started."""
    began = context.startTime / 1000
    while time.time() - began < _JOINING_SECONDS:
        last = max(_join_times(context), default=None)
        if last is not None and time.time() - last >= max(_SETTLED_SECONDS, (last - began) / 2):
            return
        time.sleep(_LOOK_SECONDS)


def _join_times(context: SparkContext) -> list[float]:
    """The time at which each present executor joined, in seconds since the epoch."""
    found = context._jsc.sc().statusStore().executorList(True)  # noqa: SLF001 - PySpark has no other way
    executors = [found.apply(number) for number in range(found.size())]
    return [each.addTime().getTime() / 1000 for each in executors if each.id() != "driver"]


def _allowed_cores(conf: SparkConf) -> int:
    """The cores that the settings request; 0 if they request none, as on one machine."""
    most = _number(conf, "spark.cores.max", 0)
    if conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        limit = _number(conf, "spark.dynamicAllocation.maxExecutors", _UNBOUNDED_EXECUTORS)
        executors = min(limit, _UNBOUNDED_EXECUTORS)
    else:
        executors = _number(conf, "spark.executor.instances", 0)
    of_executors = executors * _number(conf, "spark.executor.cores", 1)
    return min(most, of_executors) if most and of_executors else most or of_executors


def _number(conf: SparkConf, name: str, default: int) -> int:
    return int(conf.get(name, str(default)) or default)
