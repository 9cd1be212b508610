"""PART_COL_STATS as one table and in parts of a partitioned table: calls, drops, VACUUM, sizes, and the way there.

Run with `python -m tests.benchmarks.bench_split_table [--tables 50] [--partitions 2000] [--rounds 3] [--seconds 3]`. A
database on a PostgreSQL that flushes is filled by SQL and copied for each form. Each has a server that keeps no
answers, and which serves while the form is made by the SQL of split_table.py; calls for partitions chosen by chance
take turns in rounds. Autovacuum is off, so that VACUUM finds what was left to it.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any, NamedTuple, cast

from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url
from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.processes import cpu_seconds, listener_of
from tests.benchmarks.harness.questions import Kind, Shape, ask
from tests.benchmarks.harness.split_table import attached, by_hash, by_range, execute, make, parts_of, query, sizes_of
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

DATABASE = "split"
COLUMNS = {f"c{number}": "bigint" for number in range(20)}
DROPPED = 1_000
SETTINGS = {"answers_bytes": 0, "objects_bytes": 0, "notifications": False, "workers": 1, "log_level": "warning"}
FORMS: Mapping[str, Callable[[str], Sequence[str]]] = {
    "one table": lambda _: [],
    "16 by hash": by_hash,
    "16 by range": by_range,
    "attached": attached,
}
_MODEL = "org.apache.hadoop.hive.metastore.model"
_FILL = """
CREATE TEMPORARY TABLE first AS
    SELECT coalesce(max("NEXT_VAL") FILTER (WHERE "SEQUENCE_NAME" = '{model}.MPartition'), 1) AS part,
        max("NEXT_VAL") FILTER (WHERE "SEQUENCE_NAME" = '{model}.MStorageDescriptor') AS storage,
        max("NEXT_VAL") FILTER (WHERE "SEQUENCE_NAME" = '{model}.MSerDeInfo') AS serde FROM "SEQUENCE_TABLE";
CREATE TEMPORARY TABLE new AS
    SELECT t.*, number, row_number() OVER (ORDER BY "TBL_ID", number) - 1 AS n,
        'v' || to_char(number, 'FM000000') AS value
    FROM "TBLS" AS t, generate_series(0, {partitions} - 1) AS number;
INSERT INTO "SERDES" ("SERDE_ID", "SLIB") SELECT serde + n, 'org.apache.hadoop.hive.ql.io.parquet' FROM new, first;
INSERT INTO "SDS" (
    "SD_ID", "CD_ID", "SERDE_ID", "LOCATION", "NUM_BUCKETS", "IS_COMPRESSED", "IS_STOREDASSUBDIRECTORIES")
    SELECT storage + n, s."CD_ID", serde + n, s."LOCATION" || '/k=' || value, -1, false, false
    FROM new JOIN "SDS" AS s USING ("SD_ID"), first;
INSERT INTO "PARTITIONS" ("PART_ID", "PART_NAME", "TBL_ID", "SD_ID", "CREATE_TIME", "LAST_ACCESS_TIME")
    SELECT part + n, 'k=' || value, "TBL_ID", storage + n, 1700000000, 0 FROM new, first;
INSERT INTO "PARTITION_KEY_VALS" SELECT part + n, value, 0 FROM new, first;
INSERT INTO "PARTITION_PARAMS" SELECT part + n, key, '1000000' FROM new, first,
    unnest(array['numRows', 'totalSize', 'numFiles', 'rawDataSize', 'transient_lastDdlTime']) AS key;
INSERT INTO "PART_COL_STATS" (
    "CS_ID", "CAT_NAME", "DB_NAME", "TABLE_NAME", "PARTITION_NAME", "COLUMN_NAME", "COLUMN_TYPE", "PART_ID",
    "LONG_LOW_VALUE", "LONG_HIGH_VALUE", "NUM_NULLS", "NUM_DISTINCTS", "LAST_ANALYZED", "ENGINE")
    SELECT n * {columns} + c + 1, 'hive', '{database}', "TBL_NAME", 'k=' || value, 'c' || c, 'bigint', part + n,
        1, 1000000 + n, 10, 90000, 1700000000, 'hive'
    FROM new, first, generate_series(0, {columns} - 1) AS c;
INSERT INTO "SEQUENCE_TABLE" SELECT format('{model}.%s', name), at + (SELECT count(*) FROM new) * width
    FROM first, LATERAL (VALUES ('MPartition', part, 1), ('MStorageDescriptor', storage, 1), ('MSerDeInfo', serde, 1),
        ('MPartitionColumnStatistics', 1, {columns})) AS each (name, at, width)
    ON CONFLICT ("SEQUENCE_NAME") DO UPDATE SET "NEXT_VAL" = excluded."NEXT_VAL"
"""
_VACUUM = 'VACUUM (INDEX_CLEANUP ON) "PART_COL_STATS"'
"""It goes through the indexes even if few pages have dead rows, after which it would leave them for later."""
_TO_DROP = 2
"""The first tables are dropped, one in a part and one whole; the others are asked about."""


def fill(url: str, tables: int, partitions: int) -> None:
    """Make the tables through a server, and their partitions and statistics by SQL."""
    migrate.upgrade(url)
    with tempfile.TemporaryDirectory(prefix="hmstats-bench-") as folder, ExitStack() as stack:
        port = stack.enter_context(serving(Path(folder), database=url, settings=SETTINGS))
        metastore = Metastore("bench", port, 4.0, DATABASE)
        stack.enter_context(metastore.clients)
        metastore.client().create_database(api.Database(name=DATABASE, description="", parameters={}))
        for number in range(tables):
            metastore.table(f"t{number}", COLUMNS, keys=["k"])
    text = _FILL.format(model=_MODEL, partitions=partitions, columns=len(COLUMNS), database=DATABASE)
    execute(url, f"SET session_replication_role = replica; {text}", "VACUUM ANALYZE")  # foreign keys are not looked at


class Questions:
    """Calls about random partitions of the tables that are not dropped."""

    def __init__(self, tables: int, partitions: int) -> None:
        self._tables, self._partitions = range(_TO_DROP, tables), range(partitions)
        self.shape = Shape(partitions, len(COLUMNS), 0)
        self.reads = Kind("a partition's column", "get_partition_column_statistics", self._column)
        self.writes = Kind("update of a partition, 20 columns", "update_partition_column_statistics", self._update)
        self.kinds = (
            self.reads,
            Kind("statistics of 100 partitions x 20", "get_partitions_statistics_req", self._some(100)),
            Kind("aggregate of 1,000 x 20", "get_aggr_stats_for", self._some(1_000)),
            self.writes,
            Kind("set_aggr_stats_for, 100 x 20", "set_aggr_stats_for", self._set),
        )

    def _chosen(self, random: Random, count: int) -> tuple[str, list[str]]:
        """A table, and names of some of its partitions."""
        numbers = random.sample(self._partitions, min(count, len(self._partitions)))
        return f"t{random.choice(self._tables)}", [f"k=v{number:06}" for number in numbers]

    def _column(self, _: Shape, random: Random) -> Mapping[str, Any]:
        table, (name,) = self._chosen(random, 1)
        return {"db_name": DATABASE, "tbl_name": table, "part_name": name, "col_name": random.choice(list(COLUMNS))}

    def _some(self, count: int) -> Callable[[Shape, Random], Mapping[str, Any]]:
        def make(_: Shape, random: Random) -> Mapping[str, Any]:
            table, names = self._chosen(random, count)
            wanted = api.PartitionsStatsRequest(
                dbName=DATABASE, tblName=table, colNames=list(COLUMNS), partNames=names, engine="hive"
            )
            return {"request": wanted}

        return make

    def _update(self, _: Shape, random: Random) -> Mapping[str, Any]:
        table, (name,) = self._chosen(random, 1)
        return {"stats_obj": _statistics(table, name, random.randrange(1_000))}

    def _set(self, _: Shape, random: Random) -> Mapping[str, Any]:
        table, names = self._chosen(random, 100)
        sets = [_statistics(table, name, random.randrange(1_000)) for name in names]
        return {"request": api.SetPartitionsStatsRequest(colStats=sets, needMerge=False, engine="hive")}


def _statistics(table: str, name: str, nulls: int) -> Any:
    data = api.LongColumnStatsData(lowValue=1, highValue=1_000_000, numNulls=nulls, numDVs=90_000)
    objects = [
        api.ColumnStatisticsObj(colName=column, colType=kind, statsData=api.ColumnStatisticsData(longStats=data))
        for column, kind in COLUMNS.items()
    ]
    description = api.ColumnStatisticsDesc(isTblLevel=False, dbName=DATABASE, tableName=table, partName=name)
    return api.ColumnStatistics(statsDesc=description, statsObj=objects, engine="hive")


class Cost(NamedTuple):
    """Milliseconds of a call: as its client sees it, and of the server's and the database's processor."""

    elapsed: float
    server: float
    database: float


@dataclass(frozen=True)
class Form:
    """A database with the table in one form, and its server."""

    url: str
    port: int
    questions: Questions

    def seconds_to_make(self, statements: Sequence[str]) -> dict[str, str]:
        """Run the statements while a client reads and one writes; the seconds, and the longest call of each."""
        if not statements:
            return {}
        tries = [0]
        with self._longest(self.questions.reads) as read, self._longest(self.questions.writes) as written:
            seconds = _seconds(lambda: tries.append(make(self.url, statements)))
        execute(self.url, 'VACUUM ANALYZE "PART_COL_STATS"')
        made = f"{seconds:.2f}" + (f" in {tries[-1]} tries" if tries[-1] > 1 else "")
        return {"made in, s": made, "longest read, s": read[0], "longest write, s": written[0]}

    @contextmanager
    def _longest(self, kind: Kind) -> Iterator[list[str]]:
        """The longest call as its client sees it, known when the context ends."""
        ends, found, waits, refusals = Event(), [""], [0.0], []

        def call() -> None:
            while not ends.is_set():
                try:
                    waits.append(_seconds(lambda: ask(self.port, self.questions.shape, [kind], 1, 0.001)))
                except RuntimeError as error:
                    refusals.append(str(error))

        thread = Thread(target=call)
        thread.start()
        time.sleep(1)
        try:
            yield found
        finally:
            ends.set()
            thread.join()
            found[0] = f"{max(waits):.2f}" + (f", {len(refusals)} refused: {refusals[0][:300]}" if refusals else "")

    def cost(self, kind: Kind, seconds: float) -> Cost:
        """The cost of a call, from as many as are answered in this time."""
        processes = listener_of(self.port), listener_of(make_url(self.url).port or 0)
        before, began = [cpu_seconds(each) for each in processes], time.perf_counter()
        calls = ask(self.port, self.questions.shape, [kind], 1, seconds)
        elapsed = time.perf_counter() - began
        spent = [cpu_seconds(each) - start for each, start in zip(processes, before, strict=True)]
        return Cost(*(1_000 * each / calls for each in (elapsed, *spent)))

    def drops(self) -> dict[str, str]:
        """The seconds of dropping partitions and a table, and of VACUUM behind them."""
        names = [f"k=v{number:06}" for number in range(DROPPED)]
        wanted = api.DropPartitionsRequest(
            dbName=DATABASE, tblName="t0", parts=api.RequestPartsSpec(names=names), deleteData=False, needResult=False
        )
        metastore = Metastore("bench", self.port, 4.0, DATABASE)
        with metastore.clients:
            client = metastore.client()
            execute(self.url, 'VACUUM "PART_COL_STATS"', "CHECKPOINT")
            found = {
                f"drop of {DROPPED:,} partitions, s": _seconds(lambda: client.drop_partitions_req(wanted)),
                "drop of a table, s": _seconds(lambda: client.drop_table(DATABASE, "t1", False)),
                "VACUUM of rows and indexes after both, s": _seconds(lambda: execute(self.url, _VACUUM)),
            }
        frozen = [_freeze_seconds(self.url, part) for part in parts_of(self.url)]
        found["VACUUM FREEZE of all, s"], found["of the largest part, s"] = sum(frozen), max(frozen)
        return {title: f"{seconds:.2f}" for title, seconds in found.items()}

    def sizes(self) -> dict[str, str]:
        """Megabytes of rows and indexes."""
        found = sizes_of(self.url)
        return {
            "rows, MB": f"{found.rows / 1e6:,.0f}",
            "indexes, MB": f"{found.indexes / 1e6:,.0f}",
            "indexes of the largest part, MB": f"{found.largest / 1e6:,.0f}",
        }


def _freeze_seconds(url: str, part: str) -> float:
    return _seconds(lambda: execute(url, f"VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) {part}"))


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _measured(forms: Mapping[str, Form], given: argparse.Namespace) -> dict[str, dict[str, str]]:
    """The figures of each form by title."""
    figures = {name: form.seconds_to_make(FORMS[name](form.url)) | form.sizes() for name, form in forms.items()}
    for kind in next(iter(forms.values())).questions.kinds:
        costs: dict[str, list[Cost]] = {name: [] for name in forms}
        for _ in range(given.rounds):
            for name, form in forms.items():
                costs[name].append(form.cost(kind, given.seconds))
        for name, rounds in costs.items():
            figures[name][f"{kind.title}, ms"] = _shown(rounds)
        print(kind.title, {name: figures[name][f"{kind.title}, ms"] for name in forms}, flush=True)
    for name, form in forms.items():
        figures[name] |= form.drops()
    return figures


def _shown(rounds: Sequence[Cost]) -> str:
    """The medians: a call, the smallest and the largest round, and the processor's time of server + database."""
    elapsed, server, database = (statistics.median(each) for each in zip(*rounds, strict=True))
    low, high = min(rounds).elapsed, max(rounds).elapsed
    return f"{elapsed:.2f} ({low:.2f} to {high:.2f}): {server:.2f} + {database:.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--partitions", type=int, default=2_000, help="of each table, with 20 columns each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--forms", nargs="+", choices=list(FORMS), default=list(FORMS))
    given = parser.parse_args()
    questions = Questions(given.tables, given.partitions)
    with ExitStack() as stack:
        server = stack.enter_context(durable_server())
        execute(server, "ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()")
        original = stack.enter_context(fresh_database(server))
        print(f"filled in {_seconds(lambda: fill(original, given.tables, given.partitions)):.0f} s", flush=True)
        forms = {}
        for name in given.forms:
            url = stack.enter_context(fresh_database(server, cast("str", make_url(original).database)))
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
            port = stack.enter_context(serving(folder, database=url, settings=SETTINGS))
            forms[name] = Form(url, port, questions)
        figures = _measured(forms, given)
        ((rows,),) = query(original, 'SELECT count(*) FROM "PART_COL_STATS"')
    title = f"PART_COL_STATS of {rows:,} rows; calls: ms (smallest to largest round): processor, server + database"
    table = Table("", *forms, title=title)
    for title in dict.fromkeys(title for found in reversed(figures.values()) for title in found):
        table.add_row(title, *(found.get(title, "") for found in figures.values()))
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
