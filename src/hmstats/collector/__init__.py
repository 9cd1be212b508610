"""The collector: statistics of a table, computed in one pass on Spark and pushed to a metastore.

Spark's tasks import parts of this package too, so everything else is imported lazily. In the order in which an analysis
runs:

analysis.py    runs an analysis from beginning to end
request/       the table, columns and partitions to analyse
options.py     sketches, sampling and precision
spark/         the session
planning/      finds out what will be read
lake/          tables of formats with their own metadata, read without Spark
dry_run.py     reports what an analysis would read, without Spark
findings/      findings before any rows are read
scan/          the Spark job
delivery/      sends findings to the metastore
report.py      the result of an analysis
durations.py   measures the steps of an analysis
refresh/       analyses stale tables automatically
job_log.py     writes a line of a log for each analysis
autogather/    gathers statistics while tables are written
checking/      checks whether stored statistics are right
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hmstats.collector.analysis import analyze
    from hmstats.collector.autogather.writer import Written, writing
    from hmstats.collector.checking.report import CheckReport
    from hmstats.collector.checking.run import check
    from hmstats.collector.report import Report

__all__ = ["CheckReport", "Report", "Written", "analyze", "check", "writing"]

_PLACES = {
    "CheckReport": "checking.report",
    "Report": "report",
    "Written": "autogather.writer",
    "analyze": "analysis",
    "check": "checking.run",
    "writing": "autogather.writer",
}


def __getattr__(name: str) -> Any:
    """Import a part of the public interface by its name."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
