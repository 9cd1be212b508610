"""Files are listed with the Hadoop settings of a Spark session, in a dry run and around a write too."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore, object_store

from hmstats import client
from hmstats.collector.autogather.table_state import read_table_state
from hmstats.collector.dry_run import dry_run
from hmstats.collector.planning.preferred import preferred_of_writes
from hmstats.collector.request.statement import Statement
from hmstats.files import file_systems
from hmstats.model.catalog.objects import TableName


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    """A store of which the environment says nothing."""
    with object_store(tmp_path) as found:
        for name in found.environment:
            monkeypatch.delenv(name, raising=False)
        file_systems.open_root.cache_clear()
        yield found
        file_systems.open_root.cache_clear()


@pytest.mark.slow
def test_a_dry_run_and_a_write_find_the_files_of_a_store(our_metastore: Metastore, store: ObjectStore) -> None:
    with store.files().open_output_stream(f"{BUCKET}/t/part-0") as out:
        out.write(b"four")
    our_metastore.table("t", {"a": "int"}, parameters={"EXTERNAL": "TRUE"})
    ask = our_metastore.client()
    table = ask.get_table(our_metastore.database, "t")
    table.sd.location = f"s3a://{BUCKET}/t"
    ask.alter_table(our_metastore.database, "t", table)
    name = TableName("hive", our_metastore.database, "t")
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        conf = {f"spark.hadoop.{key}": value for key, value in store.hadoop.items()}
        planned = dry_run(service, Statement(name), conf=conf)
        found = read_table_state(service, preferred_of_writes(service, name), store.hadoop.get)
    assert (planned.files, planned.bytes) == (1, 4)
    assert [(file.path.rpartition("/")[2], file.bytes) for file in found.every_file] == [("part-0", 4)]
