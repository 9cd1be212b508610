"""A stock Spark fills, analyses, appends to, renames and drops tables in places that look odd.

    python spark_odd_places.py thrift://HOST:PORT FOLDER s3a://BUCKET [KEY=VALUE ...] > out.jsonl

FOLDER is a local one, KEY=VALUE are further settings of Spark. A line of JSON per table and step: {"table", "step",
"counted": rows by partition ("" is the table) as Spark counts them, "stored": as the metastore says, "marked": whether
it says so of the table as accurate, "wrong": what a check of every number finds, by partition (null is the table)}.
The last line of a table has "left": the data files that its drop left.
"""

import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.engines.spark.sessions.spark_session import session

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.collector import analyze, check, writing
from hmstats.collector.planning.data_files import list_files
from hmstats.collector.spark.session_settings import hadoop_settings
from hmstats.files.file_systems import settings_of
from hmstats.model.catalog.location import parts_of
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, partition_values
from hmstats.model.parameters.accurate import PARAMETER, Accurate

VALUES = ("ü ß", "a b", "a%b", "%41", "x:y", "a/b", "#?", "日本", "it's", "a\\b", "+&", "k=1", "A", "a", None)


@dataclass(frozen=True, slots=True)
class Place:
    """A database, its table with its partitions, some of them with places of their own, and the ways to append.

    Spark's INSERT cannot write to a partition in another file system than the table's ("Wrong FS"), so the files of
    those that are located are put there, before the table is analysed.
    """

    name: str
    database: str
    made: str
    values: Sequence[str | None] = ("x", "y", "z")
    located: tuple[tuple[str, str], ...] = ()
    table: str = "t"
    key: str = "p"
    ways: Sequence[str] = ("rows", "files")


def places(folder: str, bucket: str) -> Iterable[Place]:
    """All odd places."""
    hive, spark, orc = (
        "(n BIGINT) PARTITIONED BY ({key} STRING) STORED AS PARQUET",
        "(n BIGINT, {key} STRING) USING parquet PARTITIONED BY ({key})",
        "(n BIGINT, {key} STRING) USING orc PARTITIONED BY ({key})",
    )
    yield Place("values of hive on s3a", f"{bucket}/über maß/values/", hive, VALUES)
    yield Place("values of spark on s3a", f"{bucket}/wert=1/100%/values", spark, VALUES)
    yield Place("values of orc on s3a", f"{bucket}/orc/", orc, VALUES, ways=("rows",))
    yield Place("values on a disk", f"file:{folder}/über maß/wert=1/100%25/", hive, VALUES)
    yield Place("a partition on s3a", f"file:{folder}/mixed", hive, located=(("y", f"{bucket}/elsewhere/y ü"),))
    yield Place("a partition on a disk", f"{bucket}/mixed", spark, located=(("y", f"file:{folder}/elsewhere/y ü"),))
    yield Place("slashes", f"file://{folder}//slashes/./db//", hive)
    yield Place("slashes on s3a", f"{bucket}/slashes/db///", hive)
    yield Place("letters", f"file:{folder}/Letters/Db", spark, ("x", "X", "Y"), table="MixedCase", key="Key")


def main(address: str, folder: str, bucket: str, *conf: str) -> None:
    """Go through all places."""
    given = {"spark.sql.sources.partitionOverwriteMode": "dynamic", "hive.exec.dynamic.partition.mode": "nonstrict"}
    spark = session(address, f"file:{folder}/warehouse", dict(each.split("=", 1) for each in conf) | given)
    spark.sparkContext.setLogLevel("ERROR")
    for number, place in enumerate(places(folder, bucket)):
        _Story(spark, address, place, f"d{number}").told()
    spark.stop()


class _Story:
    """What happens to the table of one place."""

    def __init__(self, spark: SparkSession, address: str, place: Place, database: str) -> None:
        self._spark, self._address, self._place, self._database = spark, address, place, database
        self._table = f"{database}.{place.table}"

    def told(self) -> None:
        """All of it."""
        place, table = self._place, self._table
        self._spark.sql(f"CREATE DATABASE {self._database} LOCATION '{place.database}'")
        self._spark.sql(f"CREATE TABLE {table} {place.made.format(key=place.key)}")
        for value, location in place.located:
            self._spark.sql(f"ALTER TABLE {table} ADD PARTITION ({place.key}='{value}') LOCATION '{location}'")
        located = {value for value, _ in place.located}
        self._rows(0, 4, without=located).write.insertInto(table)
        for _, location in place.located:
            self._spark.range(5, 14, 1, 1).select(F.col("id").alias("n")).write.mode("append").parquet(location)
        analyze(self._spark, table)
        self._tell("analysed")
        for reads in place.ways:
            settings = {"hmstats.autogather.reads": reads, "hive.stats.reliable": True}
            writing(self._rows(4, 7, without=located), settings=settings).insert_into(table)
            self._tell(f"appended by {reads}")
        overwritten = next(each for each in place.values[1:] if each not in located)
        rows = self._rows(9, 10).where(F.col(place.key) == overwritten)
        writing(rows, settings=settings).insert_into(table, overwrite=True)
        self._tell("overwritten")
        analyze(self._spark, table, changed_only=True)
        self._tell("analysed what changed")
        self._table = f"{self._database}.{place.table}2"
        self._spark.sql(f"ALTER TABLE {table} RENAME TO {self._table}")
        self._tell("renamed")
        locations = self._locations()
        value = str(place.values[1]).replace("\\", "\\\\").replace("'", "\\'")
        self._spark.sql(f"ALTER TABLE {self._table} DROP PARTITION ({place.key}='{value}')")
        self._tell("partition dropped")
        self._spark.sql(f"DROP TABLE {self._table}")
        self._spark.sql(f"DROP DATABASE {self._database}")
        print(json.dumps({"table": place.name, "step": "dropped", "left": self._left(locations)}), flush=True)

    def _rows(self, begin: int, end: int, *, without: Collection[str] = ()) -> Any:
        """Rows of every value of the key but some, each value with more than the one before."""
        rows = [
            (number, value)
            for place, value in enumerate(self._place.values)
            if value not in without
            for number in range(begin * (place + 1), end * (place + 1))
        ]
        return self._spark.createDataFrame(rows, f"n BIGINT, {self._place.key} STRING").coalesce(1)

    def _tell(self, step: str) -> None:
        self._spark.catalog.refreshTable(self._table)
        found = self._spark.table(self._table).select(self._place.key).collect()
        counted = Counter(NULL_PARTITION_VALUE if row[0] is None else row[0] for row in found)
        line = {
            "table": self._place.name,
            "step": step,
            "counted": {**counted, "": len(found)},
            "stored": self._stored(),
            "marked": self._is_marked(),
            "wrong": [[each.partition, str(each)] for each in check(self._spark, self._table, sample_fraction=1).wrong],
        }
        print(json.dumps(line), flush=True)

    def _stored(self) -> dict[str, int | None]:
        name = named_table(self._table, "default")
        with connect(self._address) as service:
            table = service.find_table(name)
            assert table is not None
            names = service.partition_names(table.name)
            found = {"": table.parameters}
            for each, partition in zip(names, service.partitions(table.name, names), strict=True):
                (value,) = partition_values(each, [self._place.key.lower()])
                found[value] = partition.parameters
        return {value: int(each["numRows"]) if "numRows" in each else None for value, each in found.items()}

    def _is_marked(self) -> bool:
        with connect(self._address) as service:
            table = service.find_table(named_table(self._table, "default"))
        assert table is not None
        return Accurate.parse(table.parameters.get(PARAMETER)).basic

    def _locations(self) -> dict[str, str]:
        name = named_table(self._table, "default")
        with connect(self._address) as service:
            table = service.find_table(name)
            assert table is not None
            assert table.storage is not None
            found = {"": table.storage.location or ""}
            names = service.partition_names(table.name)
            for each, partition in zip(names, service.partitions(table.name, names), strict=True):
                assert partition.storage is not None
                found[each] = partition.storage.location or ""
        return found

    def _left(self, locations: dict[str, str]) -> list[str]:
        settings = settings_of([parts_of(each)[:2] for each in locations.values()], hadoop_settings(self._spark))
        return [file.path for files in list_files(locations, settings).values() for file in files]


if __name__ == "__main__":
    main(*sys.argv[1:])
