"""The plan of an analysis of a table by its format's own metadata: the columns and the version to read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hmstats.client import Metastore
from hmstats.collector.lake.formats import check_request, open_table
from hmstats.collector.lake.opened import EarlierVersion, Hadoop, LakeTable, no_settings
from hmstats.collector.lake.sketches import sketched_columns
from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.fingerprint import PARAMETER, fingerprint, is_of_work
from hmstats.collector.planning.locked import LOCKED, locks_of, reason_left_out, unlocked_columns
from hmstats.collector.planning.plan import columns_of
from hmstats.collector.request.statement import Statement
from hmstats.model.catalog.objects import Table
from hmstats.model.spark.spark_schema import LOG_SCHEMA


@dataclass(frozen=True, slots=True)
class LakePlan:
    """The plan of reading. `types` is Hive type by column, `skipped` the reason by column without statistics.

    `sketched` are the columns that get a theta sketch in the table's own metadata. `unchanged`: the version was
    analysed before, for these columns and with these options. `earlier` is an earlier version that was, None if the
    table must be read as a whole. `left_out` is the reason why nothing is to be analysed.
    """

    table: Table
    opened: LakeTable
    types: Mapping[str, str]
    skipped: Mapping[str, str]
    sketched: tuple[str, ...]
    fingerprint: str
    unchanged: bool = False
    earlier: EarlierVersion | None = None
    left_out: str | None = None

    @property
    def bytes(self) -> int:
        """The size of the live data files."""
        return sum(file.bytes for file in self.opened.files)


def plan_lake(
    metastore: Metastore,
    table: Table,
    request: Statement,
    options: Options,
    *,
    changed_only: bool,
    past_locks: bool,
    hadoop: Hadoop = no_settings,
) -> LakePlan:
    """The plan of a request for such a table; nothing is written. Locked columns are left out unless `past_locks`.

    `hadoop` returns a setting of Hadoop by its name.

    Raises StatementError for partitions, for a missing column, for a table that cannot be read and, unless
    `changed_only`, for a table whose statistics are locked; SettingsError if the reader of the format is not installed.
    """
    check_request(table, request)
    opened = open_table(table, hadoop)
    if opened.schema is not None:
        table = replace(table, parameters={**table.parameters, LOG_SCHEMA: opened.schema})
    types, skipped = columns_of(table, request, taken=metastore.accepts_spark_columns(table))
    skipped |= {name: reason for name, reason in opened.without.items() if name in types}
    types = {name: type_ for name, type_ in types.items() if name not in skipped}
    left_out: str | None = None
    locked: set[str] = set()
    if not past_locks:
        locks = locks_of(metastore, table.name)
        locked = {column for lock in locks if lock.object.partition is None for column in lock.object.columns}
        free, left_out = unlocked_columns(locks, table.name, types, automatic=changed_only)
        if changed_only and left_out is None:
            left_out = reason_left_out(metastore.preferences.of_table(table.name), table.name, table.parameters)
        skipped |= dict.fromkeys(types.keys() - free.keys(), LOCKED)
        types = free
    sketched = sketched_columns(opened, request, options, locked)
    found, stored = _fingerprint(opened, opened.identity, types, options), table.parameters.get(PARAMETER)
    same = changed_only and stored == found
    earlier = None
    if changed_only and stored and not same and not request.noscan and not options.sampled:
        earlier = _analysed_version(opened, stored, types, options)
    return LakePlan(table, opened, types, skipped, sketched, found, unchanged=same, earlier=earlier, left_out=left_out)


def _analysed_version(
    opened: LakeTable, stored: str, types: Mapping[str, str], options: Options
) -> EarlierVersion | None:
    """The earlier version with the stored fingerprint; None if the fingerprint is of other columns or options."""
    if not is_of_work(stored, types, options):
        return None
    known = (each for each in opened.earlier() if _fingerprint(opened, each.identity, types, options) == stored)
    return next(known, None)


def _fingerprint(opened: LakeTable, identity: str, types: Mapping[str, str], options: Options) -> str:
    """The fingerprint to store for an analysed version with this identity, these columns and options."""
    puffin = f" {options.puffin_columns}" if opened.sketched else ""
    # A file name that only this version has.
    return fingerprint([DataFile(f"{identity}{puffin}", 0)], types, options)
