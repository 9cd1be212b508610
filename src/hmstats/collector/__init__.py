"""The collector: statistics of a table, computed in one pass on Spark and pushed to a metastore.

Spark's tasks import parts of this package too; what they do without is loaded when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hmstats.collector.autogather.writer import Written, writing
    from hmstats.collector.checking.report import CheckReport
    from hmstats.collector.checking.run import check
    from hmstats.collector.report import Report
    from hmstats.collector.run import analyze

__all__ = ["CheckReport", "Report", "Written", "analyze", "check", "writing"]

_PLACES = {
    "CheckReport": "checking.report",
    "Report": "report",
    "Written": "autogather.writer",
    "analyze": "run",
    "check": "checking.run",
    "writing": "autogather.writer",
}


def __getattr__(name: str) -> Any:
    """The part of the public interface of this name."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
