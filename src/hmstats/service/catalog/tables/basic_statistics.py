"""Effects of a change of a table or partition on its numbers of files and bytes, and on COLUMN_STATS_ACCURATE.

The rules are Hive's. An alter that says nothing of statistics may have changed rows: nothing stays accurate and the
files are counted. A job that has counted rows says STATS_GENERATED=TASK, and they are accurate. If a partition's
files and bytes do not change, its rows are taken not to have changed either.
"""

from collections.abc import Sequence
from dataclasses import replace

from hmstats.model.catalog.objects import Parameters, Table, is_view
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.basic_statistics import COUNTS, FILE_SIZES, FileSizes, StatisticsSource, same_sizes
from hmstats.model.parameters.row_counts import row_count
from hmstats.service.catalog.tables.columns import AS_GIVEN


def stated_source(parameters: Parameters, source: StatisticsSource) -> StatisticsSource:
    """The source of a write's statistics; AS_GIVEN also if the parameters contain Hive's order not to update them."""
    return StatisticsSource.AS_GIVEN if parameters.get(AS_GIVEN, "").lower() == "true" else source


def counts_files(table: Table, source: StatisticsSource) -> bool:
    """Whether a write of the table counts its files. A partitioned table has none itself: its partitions have."""
    return source is not StatisticsSource.AS_GIVEN and not table.partition_keys and not is_view(table)


def of_altered_table(parameters: Parameters, source: StatisticsSource, sizes: FileSizes | None) -> dict[str, str]:
    """The parameters of an altered table whose files were counted; `sizes` is None if the count failed."""
    return {**_with_mark(parameters, source), **(sizes.parameters() if sizes else {})}


def of_new(parameters: Parameters, source: StatisticsSource, sizes: FileSizes | None) -> dict[str, str]:
    """The parameters of a new table or partition, with the files counted if its location exists already."""
    if not is_counted_when_new(parameters, source) or sizes is None or not sizes.exists:
        return dict(parameters)
    return of_altered_table(parameters, source, sizes)


def is_counted_when_new(parameters: Parameters, source: StatisticsSource) -> bool:
    """Whether the files of a new table or partition are counted: not if the writer states files and bytes."""
    return source is not StatisticsSource.AS_GIVEN and not _has_sizes(parameters)


def recounts_partitions(table: Table) -> bool:
    """Whether the files of altered partitions are counted; write ids tell those of a transactional table."""
    return not is_view(table) and table.parameters.get("transactional", "").lower() != "true"


def of_altered_partition(
    stored: Parameters, given: Parameters, kept: Parameters, source: StatisticsSource, sizes: FileSizes | None
) -> dict[str, str]:
    """The parameters of an altered partition. `given` are the writer's, `kept` add stored ones that it left out."""
    if not same_sizes(stored, given):
        return of_altered_table(kept, source, sizes)
    settled = source in (StatisticsSource.TASK, StatisticsSource.USER)
    return _with_mark(kept, source) if settled else dict(kept)


def emptied(parameters: Parameters, columns: Sequence[str]) -> dict[str, str]:
    """The parameters of an empty table or partition: every count is 0 and accurate."""
    mark = Accurate(basic=True, columns=frozenset(columns)).text()
    return {**parameters, **dict.fromkeys(COUNTS, "0"), PARAMETER: mark}


def _with_mark(parameters: Parameters, source: StatisticsSource) -> dict[str, str]:
    if source is not StatisticsSource.TASK:
        return {key: value for key, value in parameters.items() if key != PARAMETER}
    return {**parameters, PARAMETER: replace(Accurate.parse(parameters.get(PARAMETER)), basic=True).text()}


def _has_sizes(parameters: Parameters) -> bool:
    return all(row_count(parameters.get(key)) is not None for key in FILE_SIZES)
