"""How many cores a job may get: executors may join a session after the job was cut into tasks."""

import time

from pyspark import SparkConf, SparkContext

_UNBOUNDED_EXECUTORS = 100
"""As many executors are expected at most, since dynamic allocation without a limit tells of no number."""
_JOINING_SECONDS = 15.0
"""How long executors of a standalone cluster may take to join after the session began."""
_SETTLED_SECONDS = 2.0
"""After so long without another executor all have joined."""
_LOOK_SECONDS = 0.1


def expected_cores(context: SparkContext) -> int:
    """The cores of the executors that are there, or of those that the session's settings allow, if these are more.

    If `spark.default.parallelism` is set, it is that number. A session on one machine has its cores at once. One on a
    standalone cluster that may take all cores has them a few seconds after it began, for which this waits.
    """
    conf = context.getConf()
    if context.master.startswith("local") or conf.contains("spark.default.parallelism"):
        return _there(context)
    allowed = _allowed_cores(conf) // _number(conf, "spark.task.cpus", 1)
    if not allowed and context.master.startswith("spark:"):
        _wait_for_executors(context)
    return max(_there(context), allowed)


def _there(context: SparkContext) -> int:
    there: int = context.defaultParallelism
    return there


def _wait_for_executors(context: SparkContext) -> None:
    """Return when no more executors join a session that began a moment ago."""
    until = time.monotonic() + context.startTime / 1000 + _JOINING_SECONDS - time.time()
    joined, since = _executors(context), time.monotonic()
    while (now := time.monotonic()) < until and (not joined or now - since < _SETTLED_SECONDS):
        time.sleep(_LOOK_SECONDS)
        if (found := _executors(context)) != joined:
            joined, since = found, time.monotonic()


def _executors(context: SparkContext) -> int:
    """The number of executors; the driver, which Spark counts too, is none."""
    found: int = context._jsc.sc().getExecutorMemoryStatus().size()  # noqa: SLF001 - PySpark has no other way
    return found - 1


def _allowed_cores(conf: SparkConf) -> int:
    """The cores that the settings ask for; 0 if they say nothing, as on one machine."""
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
