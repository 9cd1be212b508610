"""A file that is read in blocks has the same bytes, in few reads."""

import io
import os
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import fs

from hmstats.files.block_file import BlockFile
from hmstats.files.counted_reads import Reads

DATA = bytes(range(256)) * 4


class _File(io.BytesIO):
    def size(self) -> int:
        return len(self.getvalue())


@given(st.integers(1, 1500), st.lists(st.tuples(st.integers(0, 1100), st.integers(0, 1100)), max_size=30))
def test_every_read_is_that_of_the_file(block_bytes: int, reads: list[tuple[int, int]]) -> None:
    file, plain = BlockFile(_File(DATA), block_bytes), io.BytesIO(DATA)
    for place, size in reads:
        assert file.seek(place) == plain.seek(place)
        assert file.read(size) == plain.read(size)
        assert file.tell() == max(place, plain.tell())
        assert (file.seek(-1, os.SEEK_END), file.read(5)) == (len(DATA) - 1, DATA[-1:])


def test_small_reads_beside_each_other_are_one_request(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(DATA)
    reads = Reads()
    with reads.open(fs.LocalFileSystem(), str(tmp_path / "a"), block_bytes=512) as file:
        assert b"".join(file.read(16) for _ in range(64)) == DATA
        file.seek(0)
        assert file.read(1024) == DATA
    assert isinstance(file, pa.PythonFile)
    assert (reads.count.bytes, reads.count.requests) == (2048, 4)
