"""The arguments that `hmstats analyze`, `check` and `refresh` have in common, read before Spark is loaded."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hmstats.client.sending.spool import DEFAULT_FOLDER
from hmstats.collector.delivery.deliver import Delivery, new_run
from hmstats.errors import SettingsError, StatementError
from hmstats.extras import install_advice
from hmstats.model.catalog.objects import TableName
from hmstats.settings import load, origin


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """The metastore, the spool folder and the Spark of a job.

    If `metastore_is_set` is false, the address is the default: the metastore of a Spark session that is given is used.
    """

    metastore: str
    metastore_is_set: bool
    master: str | None
    conf: Mapping[str, str]
    spool: str | None
    patience_seconds: float

    def hadoop(self, name: str) -> str | None:
        """A setting of Hadoop among those of Spark."""
        return self.conf.get(f"spark.hadoop.{name}")

    def delivery(self, table: TableName, *, past_locks: bool = False, automatic: bool) -> Delivery:
        """The destination of an analysis in this process; statistics that wait go to its working directory."""
        spool = self.spool or str(Path(DEFAULT_FOLDER).absolute())
        run, patience_seconds = new_run(), self.patience_seconds
        return Delivery(
            table, (), self.metastore, run, spool, patience_seconds, past_locks=past_locks, automatic=automatic
        )


def job_settings(
    *, metastore: str | None, master: str | None, conf: Sequence[str] | None, spool: str | None = None
) -> JobSettings:
    """The settings of a job by its command's options. Raises SettingsError for an invalid one."""
    flags = {"metastore": metastore, "spool": spool}
    settings = load(flags)
    return JobSettings(
        metastore=settings.metastore,
        metastore_is_set=origin("metastore", flags) != "default",
        master=master,
        conf=spark_settings(conf or ()),
        spool=settings.spool,
        patience_seconds=settings.patience_seconds,
    )


def sketch_choices(*, bounds_only: bool | None, histogram: bool | None, top_k: bool | None) -> dict[str, bool | None]:
    """The sketches to compute, by the name of the option; None if the options say nothing of them.

    Raises StatementError for sketches that are both asked for and excluded.
    """
    if bounds_only and (histogram or top_k):
        raise StatementError("--bounds-only computes no sketches, so it goes with neither --histogram nor --top-k")
    if bounds_only:
        return {"distinct": False, "histogram": False, "top_k": False}
    distinct = None if bounds_only is None else True
    return {"distinct": distinct, "histogram": histogram, "top_k": top_k}


def spark_settings(texts: Sequence[str]) -> dict[str, str]:
    """The settings in texts KEY=VALUE. Raises SettingsError for a text without a = or a key."""
    pairs = [text.partition("=") for text in texts]
    for text, (key, separator, _) in zip(texts, pairs, strict=True):
        if not key or not separator:
            raise SettingsError(f"--conf must be KEY=VALUE, found {text!r}")
    return {key: value for key, _, value in pairs}


def need_spark(command: str) -> None:
    """Raise SettingsError if Spark, which a command needs, is not installed."""
    if importlib.util.find_spec("pyspark") is None:
        raise SettingsError(f"{command} needs Spark, which is not installed: {install_advice('spark')}")
