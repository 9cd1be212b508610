"""Receives each command that a session has finished from Spark, over the callbacks of Py4J."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from hmstats.collector.autogather.following.commands import Creation, Write, command_of
from hmstats.collector.autogather.following.commits import Commit, commit_of
from hmstats.program_log import ProgramLog

_log = ProgramLog("hmstats.autogather")
_DRAIN_MS = 60_000
_RESULT = "CommandResult"
"""The command that Spark substitutes for one that it has run before."""


class Listener:
    """A QueryExecutionListener of Spark that passes writes on. Spark calls it in a thread of its own, in order.

    Its methods must raise nothing and return soon: until then no other listener is called.
    """

    def __init__(self, note: Callable[[Write | Creation | Commit], None]) -> None:
        self._note = note

    def onSuccess(self, name: str, execution: Any, duration_ns: int) -> None:  # noqa: N802 - Spark's name
        """Handle a command that has succeeded."""
        del name, duration_ns
        try:
            found = _write_of(execution) or _commit_of(execution)
        except Exception as error:  # noqa: BLE001 - a plan that is not understood is no fault of the job
            _log.warning("write_not_understood", reason=str(error))
            return
        if found is not None:
            self._note(found)

    def onFailure(self, name: str, execution: Any, error: Any) -> None:  # noqa: N802 - Spark's name
        """Handle a command that has failed; one that could not be planned tells nothing."""
        del name, error
        try:
            found = _write_of(execution)
        except Exception:  # noqa: BLE001 - it has no plan that tells what it would have written
            return
        if isinstance(found, Write):
            self._note(replace(found, files=0, rows=0, size_bytes=0, failed=True))

    class Java:
        """The declaration from which Py4J makes the Java object."""

        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


def _write_of(execution: Any) -> Write | Creation | None:
    return command_of(execution.executedPlan(), _planned_ns(execution), time.time_ns())


def _commit_of(execution: Any) -> Commit | None:
    """The commit of a command, only once: collecting the command's rows runs another plan with the same command."""
    if execution.commandExecuted().getClass().getSimpleName() == _RESULT:
        return None
    return commit_of(execution.analyzed())


def _planned_ns(execution: Any) -> int:
    """The time at which a command was planned, before it began to write, by the driver's clock; 0 if it is unknown.

    The command's duration would not help: the time since its end is unknown when the listener is called.
    """
    phases = execution.tracker().phases().values().iterator()
    ended = [0]
    while phases.hasNext():
        ended.append(int(phases.next().endTimeMs()))
    return max(ended) * 1_000_000


def register(spark: SparkSession, listener: Listener) -> Callable[[], None]:
    """Let Spark call the listener for each command of the session, until the returned function is called."""
    session: Any = spark._jsparkSession  # noqa: SLF001 - PySpark has no other way
    gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - PySpark has no other way
    ensure_callback_server_started(gateway)
    proxies = gateway.jvm.java.util.ArrayList()
    proxies.add(listener)
    proxy = proxies.get(0)  # the JVM's own object, by which Spark recognises the listener
    session.listenerManager().register(proxy)
    return lambda: session.listenerManager().unregister(proxy)


def drain(spark: SparkSession) -> None:
    """Wait until Spark has reported everything that is finished."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(_DRAIN_MS)  # noqa: SLF001 - PySpark has no other way
