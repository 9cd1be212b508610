"""How many cores a job may get: executors may join a session after the job was cut into tasks."""

from pyspark import SparkConf, SparkContext

_UNBOUNDED_EXECUTORS = 100
"""As many executors are expected at most, since dynamic allocation without a limit tells of no number."""


def expected_cores(context: SparkContext) -> int:
    """The cores of the executors that are there, or of those that the session's settings allow, if these are more.

    If `spark.default.parallelism` is set, it is that number. A session on one machine has its cores at once.
    """
    conf = context.getConf()
    there: int = context.defaultParallelism
    if context.master.startswith("local") or conf.contains("spark.default.parallelism"):
        return there
    return max(there, _allowed_cores(conf) // _number(conf, "spark.task.cpus", 1))


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
