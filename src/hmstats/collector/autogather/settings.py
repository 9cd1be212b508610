"""The settings of statistics while writing: Hive's settings by Hive's names, of the session or of one write."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from hmstats.collector.autogather.publishers.jdbc import driver_of, sqlalchemy_url
from hmstats.collector.spark.session_settings import hadoop_settings
from hmstats.errors import SettingsError
from hmstats.program_log import ProgramLog

_log = ProgramLog("hmstats.autogather")

AUTOGATHER = "hive.stats.autogather"
DBCLASS = "hive.stats.dbclass"
CONNECTION = "hive.stats.dbconnectionstring"
DRIVER = "hive.stats.jdbcdriver"
RELIABLE = "hive.stats.reliable"
READS = "hmstats.autogather.reads"
RETENTION_HOURS = "hmstats.running_write_retention_hours"
ROWS, FILES = "rows", "files"
DEFAULTS: Mapping[str, str] = {
    AUTOGATHER: "true",
    DBCLASS: "thrift",
    CONNECTION: "",
    DRIVER: "",
    RELIABLE: "false",
    READS: ROWS,
    RETENTION_HOURS: "24",
}
_PLACES = ("{}", "spark.hadoop.{}", "spark.{}")
"""Names under which the session may have a setting; the first one that is set wins."""
_FOLDER = "_hmstats_running_writes"
_FLAGS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class GatherSettings:
    """The settings in force.

    `dbclass` is the kind of storage for tasks' states, `connection` its address. If `reliable`, a failure to gather
    fails the write.

    `reads` is ROWS, which are watched while they are written, or FILES, the new files after the write. A run that has
    published nothing for `retention_hours` counts as dead, unless a server decides that.
    """

    autogather: bool
    dbclass: str
    connection: str
    reliable: bool
    reads: str
    retention_hours: float


def gather_settings(spark: SparkSession, given: Mapping[str, object], metastore: str) -> GatherSettings:
    """The settings in force: those `given`, then the session's, then the defaults.

    Without a connection string, `thrift` uses the metastore, and `fs` a folder of the warehouse. Raises SettingsError
    for an unknown name and for an invalid value.
    """
    for name in given:
        if name not in DEFAULTS:
            raise SettingsError(f"settings of a write are {', '.join(DEFAULTS)}, found {name}")
    hadoop = hadoop_settings(spark)
    session = {name: text for name in DEFAULTS if (text := _first(hadoop, name)) is not None}
    texts = {**DEFAULTS, **session, **{name: str(value) for name, value in given.items()}}
    return GatherSettings(
        autogather=_flag(AUTOGATHER, texts),
        dbclass=texts[DBCLASS],
        connection=_connection(spark, texts, metastore),
        reliable=_flag(RELIABLE, texts),
        reads=_reads(texts[READS]),
        retention_hours=_hours(texts[RETENTION_HOURS]),
    )


def _first(hadoop: Callable[[str], str | None], name: str) -> str | None:
    found = (hadoop(place.format(name)) for place in _PLACES)
    return next((str(value) for value in found if value is not None), None)


def _connection(spark: SparkSession, texts: Mapping[str, str], metastore: str) -> str:
    kind, given = texts[DBCLASS].partition(":")[0].lower(), texts[CONNECTION].strip()
    if kind == "thrift":
        return given or metastore
    if kind == "fs":
        folder = given or f"{spark.conf.get('spark.sql.warehouse.dir')}/{_FOLDER}"
        return folder if ":" in folder else str(Path(folder).absolute())
    if kind not in ("jdbc", "sql"):
        return given
    if not given:
        raise SettingsError(f"{DBCLASS} {texts[DBCLASS]} needs {CONNECTION}, a JDBC URL or one of SQLAlchemy's")
    url = sqlalchemy_url(given)
    if texts[DRIVER]:
        _log.info("jdbc_driver_mapped", driver=texts[DRIVER], loaded=driver_of(texts[DRIVER]) or url.partition(":")[0])
    return url


def _flag(name: str, texts: Mapping[str, str]) -> bool:
    flag = _FLAGS.get(texts[name].strip().lower())
    if flag is None:
        raise SettingsError(f"{name} must be true or false, found {texts[name]!r}")
    return flag


def _reads(text: str) -> str:
    if text not in (ROWS, FILES):
        raise SettingsError(f"{READS} must be {ROWS} or {FILES}, found {text!r}")
    return text


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 0 < hours < float("inf"):
        raise SettingsError(f"{RETENTION_HOURS} must be a number of hours above 0, found {text!r}")
    return hours
