"""Reads lines of Spark's event logs: one file, or a folder of rolled ones (eventlog_v2_*), plain or compressed.

A log is read in small pieces. An incomplete one, which Spark is still writing or which was truncated, is read as far as
it goes. Formats: org.apache.spark.io.CompressionCodec; lz4 and snappy are the block streams of lz4-java and
snappy-java, not the formats of the command-line tools.
"""

import gzip
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa

from hmstats.errors import StatementError
from hmstats.learning.skipped import Skipped

MOST_LINE_BYTES = 64 * 2**20
"""A longer line is skipped."""
_CHUNK_BYTES = 2**20
_ZSTD_BYTES = 2**16
"""The most bytes lost at the end of a truncated stream, since Arrow returns whole pieces only."""
_MOST_BLOCK_BYTES = 2**26
_ROLLED = "eventlog_v2_"
_ROLLED_FILE = re.compile(r"events_(\d+)_")
_UNFINISHED, _COMPACTED = ".inprogress", ".compact"
_LZ4_MAGIC, _SNAPPY_MAGIC = b"LZ4Block", b"\x82SNAPPY\0"
_LZ4_RAW = 0x10


def logs_at(path: Path) -> list[list[Path]]:
    """The logs at a path, each as its files in order: a file, a folder of rolled files, or a folder of logs.

    Raises StatementError if nothing is there.
    """
    if path.is_file():
        return [[path]]
    if not path.is_dir():
        raise StatementError(f"a file or folder of event logs must be there, found nothing at {path}")
    if path.name.startswith(_ROLLED):
        return [_rolled_files(path)]
    inside = sorted(each for each in path.iterdir() if not each.name.startswith("."))
    return [
        _rolled_files(each) if each.is_dir() else [each]
        for each in inside
        if each.is_file() or each.name.startswith(_ROLLED)
    ]


def lines(files: list[Path], skipped: Skipped) -> Iterator[bytes]:
    """The lines of a log, without their ends."""
    for each in files:
        yield from _lines(_chunks(each, skipped), skipped)


def _rolled_files(folder: Path) -> list[Path]:
    """The files of a rolled log; a compacted file replaces those before it."""
    numbered = [(int(found[1]), each) for each in folder.iterdir() if (found := _ROLLED_FILE.match(each.name))]
    numbered.sort(key=lambda each: (each[0], each[1].name.endswith(_COMPACTED)))
    compacted = [place for place, (_, each) in enumerate(numbered) if each.name.endswith(_COMPACTED)]
    return [each for _, each in numbered[compacted[-1] if compacted else 0 :]]


def _lines(chunks: Iterator[bytes], skipped: Skipped) -> Iterator[bytes]:
    parts: list[bytes] = []
    size, too_long = 0, False
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for each in ended:
            if too_long or size + len(each) > MOST_LINE_BYTES:
                skipped.long_lines += 1
            else:
                yield b"".join([*parts, each])
            parts, size, too_long = [], 0, False
        size += len(rest)
        too_long = too_long or size > MOST_LINE_BYTES
        parts = [] if too_long else [*parts, rest]
    if any(parts):
        yield b"".join(parts)


def _chunks(path: Path, skipped: Skipped) -> Iterator[bytes]:
    """The decompressed bytes of a file, whose name tells the codec; everything after a damaged place is left out."""
    suffix = Path(path.name.removesuffix(_UNFINISHED).removesuffix(_COMPACTED)).suffix
    read = _READERS.get(suffix)
    if read is None and suffix in (".lzf", ".bz2", ".xz"):
        raise StatementError(f"an event log must be plain, zstd, lz4, snappy or gz, found {path}")
    try:
        with path.open("rb") as file:
            yield from (read or _plain)(file)
    except (EOFError, gzip.BadGzipFile, pa.ArrowException, struct.error, zlib.error, ValueError):
        skipped.cut_files += 1
    except OSError as error:
        if error.errno is not None:
            raise StatementError(f"event log {path} must be readable, found: {error}") from error
        skipped.cut_files += 1  # Arrow's error: the stream ends in the middle of a frame


def _plain(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk


def _gzip(file: IO[bytes]) -> Iterator[bytes]:
    with gzip.open(file) as opened:
        while chunk := opened.read1(_CHUNK_BYTES):
            yield chunk


def _zstd(file: IO[bytes]) -> Iterator[bytes]:
    with pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd") as opened:
        while chunk := opened.read(_ZSTD_BYTES):
            yield chunk


def _lz4(file: IO[bytes]) -> Iterator[bytes]:
    """Blocks of lz4-java: magic, token, compressed size, size, checksum (little endian), bytes."""
    while head := file.read(21):
        if len(head) < 21 or not head.startswith(_LZ4_MAGIC):
            raise EOFError
        token, packed, size, _ = struct.unpack("<BiiI", head[8:])
        if size == 0:
            continue  # the end of a stream; another one may follow
        data = _read_exactly(file, packed, size)
        yield data if token & 0xF0 == _LZ4_RAW else _block(data, size, "lz4_raw")


def _snappy(file: IO[bytes]) -> Iterator[bytes]:
    """Chunks of snappy-java: a header of 16 bytes, then the size of each chunk (big endian) and its bytes."""
    while head := file.read(4):
        if head == _SNAPPY_MAGIC[:4]:
            file.read(12)
            continue
        (packed,) = struct.unpack(">i", head)
        data = _read_exactly(file, packed, packed)
        yield _block(data, _snappy_size(data), "snappy")


def _read_exactly(file: IO[bytes], number: int, unpacked: int) -> bytes:
    if not 0 <= number <= _MOST_BLOCK_BYTES or not 0 <= unpacked <= _MOST_BLOCK_BYTES:
        raise EOFError
    data = file.read(number)
    if len(data) < number:
        raise EOFError
    return data


def _block(data: bytes, size: int, codec: str) -> bytes:
    unpacked = pa.Codec(codec).decompress(data, size, asbytes=True)
    return bytes(unpacked)


def _snappy_size(data: bytes) -> int:
    """The uncompressed size at the start of a snappy block: seven bits a byte, the lowest first."""
    size = 0
    for place, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    if size > _MOST_BLOCK_BYTES:
        raise EOFError
    return size


_READERS: dict[str, Callable[[IO[bytes]], Iterator[bytes]]] = {
    ".gz": _gzip,
    ".zstd": _zstd,
    ".zst": _zstd,
    ".lz4": _lz4,
    ".snappy": _snappy,
}
