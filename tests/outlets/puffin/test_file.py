"""Puffin files: Iceberg's own bytes, PyIceberg's reader, and whatever else may stand in a file."""

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.table.puffin import PuffinFile as PyIcebergFile
from tests.sketch.theta_vectors import VECTORS

from hmstats.errors import InvalidInput
from hmstats.outlets.puffin.blob import Blob, compress
from hmstats.outlets.puffin.file import PuffinFile, read, write

JAVA: dict[str, Any] = VECTORS["puffin"]
FILE = bytes.fromhex(JAVA["hex"])


FOOTER = b'{"blobs":[{"type":"t","fields":[],"snapshot-id":1,"sequence-number":1,"offset":4,"length":9}]}'


def blob(stored: bytes = b"content", **given: Any) -> Blob:
    return Blob("some-type", (1, 2), 10, 3, stored, **given)


def altered(payload: bytes, *, flags: int = 0, length: int | None = None) -> bytes:
    """A file without blobs and with this footer."""
    size = (len(payload) if length is None else length).to_bytes(4, "little", signed=True)
    return b"PFA1PFA1" + payload + size + flags.to_bytes(4, "little") + b"PFA1"


def test_a_file_of_java_is_read() -> None:
    found = read(FILE)
    assert [each.metadata_entry() for each in found.blobs] == JAVA["statistics_entry"]["blob-metadata"]
    assert [each.content().hex() for each in found.blobs] == [JAVA["blob_1_raw"], JAVA["blob_2_raw"]]
    assert [each.codec for each in found.blobs] == [None, "zstd"]
    assert dict(found.properties) == json.loads(JAVA["footer_json"])["properties"]
    assert read(bytes.fromhex(VECTORS["puffin_empty"]["hex"])).blobs == ()


def test_a_file_of_java_is_written_byte_for_byte() -> None:
    written = write(read(FILE))
    assert written.data == FILE
    assert written.footer_bytes == JAVA["footer_size"]


def test_what_pyiceberg_reads_is_what_was_written() -> None:
    blobs = (blob(b"plain"), blob(compress(b"x" * 1000), codec="zstd", properties={"ndv": "7", "é": "\U0001f600"}))
    theirs = PyIcebergFile(write(PuffinFile(blobs, {"created-by": "test"})).data)
    assert [theirs.get_blob_payload(each) for each in theirs.footer.blobs] == [b"plain", b"x" * 1000]
    assert [each.properties for each in theirs.footer.blobs] == [{}, {"ndv": "7", "é": "\U0001f600"}]
    assert theirs.footer.properties == {"created-by": "test"}


def test_a_compressed_footer_and_lz4_blobs_of_others_are_read() -> None:
    footer = json.dumps({"blobs": [], "properties": {"a": "b"}}).encode()
    frame = pa.Codec("lz4").compress(footer, asbytes=True)
    assert dict(read(altered(frame, flags=1)).properties) == {"a": "b"}
    assert blob(pa.Codec("lz4").compress(b"content", asbytes=True), codec="lz4").content() == b"content"


@given(st.lists(st.builds(blob, st.binary(max_size=50), properties=st.dictionaries(st.text(), st.text()))))
def test_what_is_written_is_read(blobs: list[Blob]) -> None:
    file = PuffinFile(tuple(blobs), {"created-by": "test"})
    assert read(write(file).data) == file


@given(st.integers(0, len(FILE) - 1), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_read_but_never_fails_otherwise(place: int, change: int) -> None:
    data = bytearray(FILE)
    data[place] ^= change
    try:
        for each in read(bytes(data)).blobs:
            each.content()
    except InvalidInput:
        pass


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "begins and ends with PFA1"),
        (FILE[:-1], "begins and ends with PFA1"),
        (altered(b"{}", length=-5), "no footer of -5 bytes"),
        (altered(b"{}", length=1000), "no footer of 1000 bytes"),
        (altered(b"{}", flags=2), "flags 0x2"),
        (altered(b"{}", flags=1), "damaged footer"),
        (altered(b"{}"), "not as specified"),
        (altered(FOOTER.replace(b"9}", b"1e999}")), "not as specified"),
        (altered(b"[" * 100_000), "not as specified"),
        (altered(b'{"blobs":[{"type":"t"}]}'), "not as specified"),
        (altered(FOOTER), "a blob of 9 bytes at 4"),
    ],
)
def test_what_is_no_puffin_file_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        read(data)


def test_blobs_that_cannot_be_decompressed_are_refused() -> None:
    with pytest.raises(InvalidInput, match="compressed by snappy, expected lz4 or zstd"):
        blob(codec="snappy").content()
    with pytest.raises(InvalidInput, match="blob of 7 bytes is damaged"):
        blob(codec="zstd").content()


def test_a_blob_that_decompresses_to_far_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmstats.outlets.puffin.blob.MOST_CONTENT_BYTES", 1000)
    with pytest.raises(InvalidInput, match="more than 1,000 bytes"):
        blob(compress(bytes(1001)), codec="zstd").content()
