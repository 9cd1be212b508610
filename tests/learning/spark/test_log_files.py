"""Event logs as Spark and people leave them: every codec, rolled, compacted, cut off, with garbage inside."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from hmstats.errors import StatementError
from hmstats.learning.skipped import Skipped
from hmstats.learning.spark import log_files
from hmstats.learning.spark.log_files import lines, logs_at

TEXT = b"".join(b'{"Event":"Line","number":%d}\n' % number for number in range(20_000))
LINES = TEXT.splitlines()


def lz4_blocks(data: bytes) -> bytes:
    """The bytes as lz4-java's LZ4BlockOutputStream writes them, with one block that is stored as it is."""
    codec, out = pa.Codec("lz4_raw"), []
    for start in range(0, len(data), 32_768):
        block = data[start : start + 32_768]
        packed = block if start == 0 else codec.compress(block, asbytes=True)
        token = 0x15 if start == 0 else 0x25
        out.append(b"LZ4Block" + struct.pack("<BiiI", token, len(packed), len(block), 0) + packed)
    return b"".join(out) + b"LZ4Block" + struct.pack("<BiiI", 0x15, 0, 0, 0)


def snappy_chunks(data: bytes) -> bytes:
    """The bytes as snappy-java's SnappyOutputStream writes them."""
    codec, out = pa.Codec("snappy"), [b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)]
    for start in range(0, len(data), 32_768):
        packed = codec.compress(data[start : start + 32_768], asbytes=True)
        out.append(struct.pack(">i", len(packed)) + packed)
    return b"".join(out)


def zstd(data: bytes) -> bytes:
    """Two frames, one after the other."""
    codec, half = pa.Codec("zstd"), len(data) // 2
    return bytes(codec.compress(data[:half], asbytes=True)) + bytes(codec.compress(data[half:], asbytes=True))


CODECS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zstd": zstd,
    ".lz4": lz4_blocks,
    ".snappy": snappy_chunks,
}


@pytest.mark.parametrize("suffix", CODECS)
def test_every_codec(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"application_1{suffix}").write_bytes(CODECS[suffix](TEXT))
    skipped = Skipped()
    assert [list(lines(files, skipped)) for files in logs_at(tmp_path)] == [LINES]
    assert skipped == Skipped()


@pytest.mark.parametrize("suffix", CODECS)
def test_a_log_that_is_still_written(tmp_path: Path, suffix: str) -> None:
    whole = CODECS[suffix](TEXT)
    path = tmp_path / f"application_1{suffix}.inprogress"
    path.write_bytes(whole[: len(whole) * 3 // 4])
    skipped = Skipped()
    found = list(lines([path], skipped))
    assert found[:-1] == LINES[: len(found) - 1]
    assert len(found) > len(LINES) // 4
    assert skipped.long_lines == 0


@pytest.mark.parametrize("suffix", [each for each in CODECS if each])
def test_garbage_instead_of_a_stream(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"application_1{suffix}"
    path.write_bytes(b"\xff" * 5_000)
    skipped = Skipped()
    assert list(lines([path], skipped)) == []
    assert skipped.cut_files == 1


@pytest.mark.parametrize("suffix", [each for each in CODECS if each])
@pytest.mark.parametrize("place", [20, 40, 60, 80])
def test_what_is_in_front_of_a_damaged_place_is_read(tmp_path: Path, suffix: str, place: int) -> None:
    whole = bytearray(CODECS[suffix](TEXT))
    start = len(whole) * place // 100
    whole[start : start + 60] = bytes(each ^ 0xA7 for each in whole[start : start + 60])
    path = tmp_path / f"application_1{suffix}"
    path.write_bytes(whole)
    skipped = Skipped()
    list(lines([path], skipped))
    assert skipped.cut_files <= 1


def test_a_codec_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "application_1.lzf"
    path.write_bytes(b"ZV")
    with pytest.raises(StatementError, match=r"plain, zstd, lz4, snappy or gz.*application_1.lzf"):
        list(lines([path], Skipped()))


def test_rolled_files_come_in_order_and_a_compacted_one_stands_for_those_before_it(tmp_path: Path) -> None:
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    for name in ("events_1_app-1", "events_2_app-1.compact", "events_2_app-1", "events_10_app-1", "events_3_app-1"):
        (folder / name).write_bytes(name.encode() + b"\n")
    (folder / "appstatus_app-1.inprogress").touch()
    names = ["events_2_app-1.compact", "events_3_app-1", "events_10_app-1"]
    assert logs_at(folder) == [[folder / name for name in names]]
    assert logs_at(tmp_path) == logs_at(folder)
    assert list(lines(logs_at(folder)[0], Skipped())) == [name.encode() for name in names]


def test_lines_that_are_too_long_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files, "MOST_LINE_BYTES", 100)
    monkeypatch.setattr(log_files, "_CHUNK_BYTES", 64)
    path = tmp_path / "log"
    path.write_bytes(b"a" * 90 + b"\n" + b"b" * 1_000 + b"\n" + b"c" * 100 + b"\nend")
    skipped = Skipped()
    assert list(lines([path], skipped)) == [b"a" * 90, b"c" * 100, b"end"]
    assert skipped.long_lines == 1


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(StatementError, match=r"found nothing at .*missing"):
        logs_at(tmp_path / "missing")
