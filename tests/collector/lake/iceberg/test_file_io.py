"""Files of Iceberg's tables by the project's own rule for places."""

from pathlib import Path

from hmstats.collector.lake.iceberg.file_io import PlacesFileIO
from hmstats.collector.lake.opened import no_settings
from hmstats.files.counted_reads import Reads


def test_signs_of_urls_are_parts_of_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a %23b?c=1 #d"
    path.write_bytes(b"found")
    io = PlacesFileIO({}, no_settings, Reads())
    for location in (f"file:{path}", f"file://{path}", str(path)):
        with io.new_input(location).open() as stream:
            assert stream.read() == b"found"


def test_keys_of_stores_stay_as_they_are() -> None:
    places = {
        "s3://lake/t//metadata/a b#c": ("s3", "lake", "lake/t//metadata/a b#c"),
        "s3a://lake/t": ("s3a", "lake", "lake/t"),
        "abfss://box@account.dfs.core.windows.net/t": ("abfss", "box@account.dfs.core.windows.net", "box/t"),
        "gs://lake/t": ("gs", "lake", "lake/t"),
        "hdfs://name:8020/t": ("hdfs", "name:8020", "/t"),
    }
    assert {each: PlacesFileIO.parse_location(each) for each in places} == places
