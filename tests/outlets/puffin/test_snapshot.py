from typing import Any

import pyarrow as pa
from pyiceberg.table.puffin import PuffinFile as PyIcebergFile
from pyiceberg.table.statistics import StatisticsFile
from tests.sketch.theta_vectors import VECTORS

from hmstats.outlets.puffin.blob import Blob
from hmstats.outlets.puffin.file import read, write
from hmstats.outlets.puffin.snapshot import (
    THETA,
    Snapshot,
    blobs_of_snapshot,
    ndvs,
    snapshot_file,
    statistics_entry,
    theta_blob,
)
from hmstats.sketch.distinct.theta import ThetaSketch
from hmstats.version import __version__

NOW = Snapshot(20, 7)


def sketch(*values: int) -> ThetaSketch:
    made = ThetaSketch()
    made.update(pa.array(values, pa.int64()))
    return made


def earlier(kind: str, *fields: int) -> Blob:
    return Blob(kind, fields, 10, 3, b"bytes of another engine", properties={"ndv": "1"})


def test_new_sketches_come_first_and_other_engines_blobs_stay_as_they_are() -> None:
    before = [earlier(THETA, 1), earlier(THETA, 2), earlier("presto-kll-sketch-bytes-v1", 1)]
    found = read(snapshot_file(blobs_of_snapshot({3: sketch(1, 2), 1: sketch(1)}, NOW, before, {1, 2, 3})).data)
    assert [(each.type, each.fields, each.snapshot_id) for each in found.blobs] == [
        (THETA, (1,), 20),
        (THETA, (3,), 20),
        (THETA, (2,), 10),
        ("presto-kll-sketch-bytes-v1", (1,), 10),
    ]
    assert found.blobs[2:] == (before[1], before[2])
    assert found.properties["created-by"].startswith("hmstats ")


def test_no_blob_of_a_dropped_column_and_no_two_of_one() -> None:
    before = [earlier(THETA, 9), earlier(THETA, 2), earlier(THETA, 2), earlier("other", 9), earlier("of no column")]
    found = read(snapshot_file(blobs_of_snapshot({1: sketch(1)}, NOW, before, {1, 2})).data)
    assert [(each.type, each.fields) for each in found.blobs] == [(THETA, (1,)), (THETA, (2,)), ("of no column", ())]


def test_pyiceberg_reads_the_sketch_and_the_entry() -> None:
    made = sketch(*range(1000))
    blobs = blobs_of_snapshot({1: made}, NOW, [], {1})
    written = snapshot_file(blobs)
    theirs = PyIcebergFile(written.data)
    assert theirs.get_blob_payload(theirs.footer.blobs[0]) == made.to_bytes()
    entry = statistics_entry(written, blobs, "s3://lake/t/metadata/x.stats", 20)
    taken = StatisticsFile.model_validate(entry)
    assert (taken.snapshot_id, taken.file_size_in_bytes) == (20, len(written.data))
    assert taken.blob_metadata[0].properties == {"ndv": "1000", "created-by": f"hmstats {__version__}"}
    assert [each.is_ours for each in read(written.data).blobs] == [True]
    assert ndvs(entry) == {1: 1000}


def test_an_entry_is_that_of_java() -> None:
    java: dict[str, Any] = VECTORS["puffin"]
    data, entry = bytes.fromhex(java["hex"]), java["statistics_entry"]
    file = read(data)
    assert statistics_entry(write(file), file.blobs, entry["statistics-path"], entry["snapshot-id"]) == entry
    assert ndvs(entry) == {1: 3, 2: 10}


def test_a_distinct_count_that_is_no_number_is_left_out() -> None:
    blobs = [theta_blob(1, sketch(1, 2), NOW).metadata_entry(), earlier("other", 2).metadata_entry()]
    broken = {**theta_blob(3, sketch(1), NOW).metadata_entry(), "properties": {"ndv": "many"}}
    assert ndvs({"blob-metadata": [*blobs, broken]}) == {1: 2}
    assert ndvs({}) == {}
