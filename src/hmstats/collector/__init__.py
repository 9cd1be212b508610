"""The collector: statistics of a table, computed in one pass on Spark and pushed to a metastore.

Spark's tasks import parts of this package too, so everything else is imported lazily. In the order in which an analysis
runs:

analysis.py    an analysis from beginning to end
request/       what is to be analysed
options.py     how exactly
spark/         the session
planning/      what will be read
lake/          tables by their format's own metadata, without Spark
dry_run.py     what would be done, without Spark
findings/      what is known without reading
scan/          the Spark job
delivery/      findings on their way to the metastore
report.py      the result of an analysis
durations.py   how long its steps took
refresh/       analyses of what is stale, by themselves
job_log.py     a line of a log for each analysis
autogather/    statistics while writing
checking/      whether stored statistics are right
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
