"""Manifests as Delta Lake writes them, and manifests in an object store that name files by another scheme of it."""

from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from tests.fixtures.object_stores.object_store import BUCKET, object_store

from hmstats.collector.planning.data_files import DataFile, list_each
from hmstats.collector.planning.manifests import files_in_manifests
from hmstats.files.file_systems import settings_of


def test_files_are_named_by_any_scheme_of_the_store(tmp_path: Path) -> None:
    """The files lie beside the folder of the manifests; those of another bucket are refused."""
    with object_store(tmp_path) as store:
        files = store.files()
        named = {"01": [f"s3a://{BUCKET}/data/a b=1.orc"], "1": [f"s3://{BUCKET}/data/c.orc", "s3://other/d.orc"]}
        for path in ("data/a b=1.orc", "data/c.orc"):
            with files.open_output_stream(f"{BUCKET}/{path}") as stream:
                stream.write(path.encode())
        for day, lines in named.items():
            with files.open_output_stream(f"{BUCKET}/hive/dt={day}/symlink.txt") as stream:
                stream.write("\r\n".join(lines).encode())
        locations = {f"dt={day}": f"s3://{BUCKET}/hive/dt={day}" for day in named}
        settings = settings_of([("s3", BUCKET)], store.hadoop.get)
        found = files_in_manifests(locations, list_each(locations, settings), settings)
    assert isinstance(found["dt=01"], list)
    assert [(each.path, each.bytes) for each in found["dt=01"]] == [(f"{BUCKET}/data/a b=1.orc", 14)]
    assert all(isinstance(each, DataFile) and each.modified_ns for each in found["dt=01"])
    assert "s3://other/d.orc, which is not in the store" in str(found["dt=1"])


def test_delta_lakes_own_manifests_name_the_files_of_its_log(tmp_path: Path) -> None:
    """The table was written over, so that older files lie beside those that are named."""
    for first in (0, 10):
        rows = pa.table({"n": [first, first + 1, first + 2], "day": ["01", "1", "a b"]})
        write_deltalake(tmp_path, rows, mode="overwrite", partition_by=["day"])
    table = DeltaTable(tmp_path)
    table.generate()
    folders = (tmp_path / "_symlink_format_manifest").iterdir()
    locations = {each.name: f"file:{each}" for each in folders}
    found = files_in_manifests(locations, list_each(locations))
    paths = [each.path for listed in found.values() if isinstance(listed, list) for each in listed]
    assert sorted(paths) == sorted(table.file_uris())
    assert len(paths) == 3
