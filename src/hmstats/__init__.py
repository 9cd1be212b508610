"""hmstats: table, partition and column statistics behind the Hive Metastore's Thrift API.

hmstats.connect("thrift://HOST:9083")     a metastore: its tables, partitions and statistics
hmstats.analyze(spark, "db.table")        compute statistics with Spark and store them
hmstats.check(spark, "db.table")          compare stored statistics with the data
hmstats.autogather(spark)                 collect statistics of all that a session writes
hmstats.writer(df)                        write a DataFrame and collect its statistics meanwhile
hmstats.arrow                             statistics as Arrow arrays
hmstats.show("db.table")                  a table as pictures in a notebook

Each is imported when it is first used: a client loads no Spark, a server no client.

The folders, in the order in which a number goes from a file to a planner:

collector/   computes statistics with Spark
sketch/      sketches and accumulators over whole arrays
learning/    what queries of engines teach about statistics
client/      talks to a metastore
wire/        Thrift structs to model and back
gateway/     calls that another metastore answers
server/      sockets, requests, calls
service/     the rules
store/       the database
outlets/     the model in other forms
model/       what everything above speaks of
files/       file systems and directories
web/         the page: tables and statistics in a browser and as JSON
feeds/       statistics sent to data catalogs
cli/         the commands
settings/    what the commands and the server can be told

__main__.py        `python -m hmstats`
errors.py          every error
resources.py       finds what travels in the wheel
private_files.py   files that their owner alone can read
secret_files.py    secrets in files of a folder
watched_files.py   files that are read again when they change
jdbc_url.py        what a JDBC URL names
java.py            finds Java
process_user.py    the name and the home of who runs the process
extras.py          how an optional part is installed
tracing.py         spans by OpenTelemetry
program_log.py     log lines in programs of others
version.py         the version
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hmstats.version import __version__

if TYPE_CHECKING:
    from hmstats.client import Metastore, connect
    from hmstats.collector import analyze, check
    from hmstats.collector import writing as writer
    from hmstats.collector.autogather.following.session import autogather
    from hmstats.errors import HmstatsError
    from hmstats.outlets import arrow
    from hmstats.web.notebook import show

__all__ = [
    "HmstatsError",
    "Metastore",
    "__version__",
    "analyze",
    "arrow",
    "autogather",
    "check",
    "connect",
    "show",
    "writer",
]

_MODULES = {
    "HmstatsError": ("hmstats.errors", "HmstatsError"),
    "Metastore": ("hmstats.client", "Metastore"),
    "analyze": ("hmstats.collector", "analyze"),
    "arrow": ("hmstats.outlets.arrow", None),
    "autogather": ("hmstats.collector.autogather.following.session", "autogather"),
    "check": ("hmstats.collector", "check"),
    "connect": ("hmstats.client", "connect"),
    "show": ("hmstats.web.notebook", "show"),
    "writer": ("hmstats.collector", "writing"),
}
"""Public name to its module and its name there; None is the module itself."""


def __getattr__(name: str) -> Any:
    """Import a part of the public interface by its name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    module, attribute = _MODULES[name]
    loaded = import_module(module)
    return loaded if attribute is None else getattr(loaded, attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
